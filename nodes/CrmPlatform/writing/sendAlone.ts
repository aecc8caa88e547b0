import type { IDataObject, NodeApiError } from 'n8n-workflow';

import { breaksRule } from '../api/http/rules';
import { mayBeWritten } from '../api/batchAnswers';
import { findRecord, otherId, recordIn } from '../api/record';
import { isReusedKey } from '../api/refusals';
import { idText } from '../base/json';
import { orThrow } from '../base/results';
import type { ApiRequest } from '../api/http/request';
import type { WriteDescription } from '../api/openapi/writing';
import { RecordComparison } from '../fields/recordComparison';
import type { NodeRun, Write } from '../model';
import { replacementFor } from './replace';
import { hasWriteOncePer, sendUnderKey } from './sendUnderKey';

/** The record in the response (empty without a body), the HTTP status, and whether an earlier call had made the write. */
export interface Written {
	record: IDataObject;
	status: number;
	isReplayed?: boolean | undefined;
}

/**
 * Sends one write under an idempotency key and under the version that was read, if the service takes them. A service that
 * replaces whole records gets the whole record.
 *
 * @param items as in `WriteInRun`
 * @throws NodeApiError if the service refuses the write, or does not return the record; Error in the user's words if it
 * returns anything else
 */
export async function sendAlone(run: NodeRun, description: WriteDescription, write: Write, items: number[]): Promise<Written> {
	const { id, path, query, version, isRepeatable, body: changes, isAddition, keySubject } = write;
	const { method, takesIfMatch, sends } = description;
	const isReplaced = sends !== undefined && id !== undefined && changes !== undefined;
	const replacement = isReplaced ? await replacementFor(run, description, write) : undefined;
	if (replacement?.unchanged) return { record: replacement.unchanged, status: 200 };
	const readVersion = takesIfMatch && version !== undefined ? `"${version}"` : undefined;
	const etag = replacement ? replacement.etag : readVersion;
	const headers = etag === undefined ? {} : { 'if-match': etag };
	const request: ApiRequest = { method, path, headers, query, body: replacement?.record ?? changes, isRepeatable };
	const sent = await sendUnderKey(run, description, request, { items, isAddition, keySubject }).catch((error: Error) => error);
	// Another execution may have created the record with these values, which is now found by its name.
	const current = method === 'PATCH' && hasWriteOncePer(run) && isReusedKey(sent) ? await findRecord(run.api, path) : undefined;
	const isWritten = current !== undefined && new RecordComparison(description.fields).difference(current, changes ?? {}).changes.length === 0;
	const { body, status, isReplayed } = isWritten ? { body: current, status: 200, isReplayed: true } : orThrow(sent);
	const record = orThrow<IDataObject>(writtenRecord(run, description, id, { record: recordIn(body, path), status }));
	return { record, status, isReplayed };
}

/**
 * The record in the response to a write; if there is none, the known values of the record.
 *
 * @param id of a record that existed before
 * @returns NodeApiError if the response has no id of a new or changed record (other than a 204 for a known id), if it has
 * another record, or if it says that the record was not deleted
 */
export function writtenRecord(
	{ api }: NodeRun,
	{ method, replaces }: Pick<WriteDescription, 'method' | 'replaces'>,
	id: string | undefined,
	{ record, status }: { record: IDataObject | undefined; status: number },
): IDataObject | NodeApiError {
	const failure = (message: string, rule: number, advice = mayBeWritten) =>
		api.failure({ message, description: `${breaksRule(rule)} ${advice}`, status, details: { status }, mayBeDone: true });
	if (method === 'DELETE' && record?.deleted === false) {
		return failure('The CRM reported that the record was not deleted', 20, 'Check the record.');
	}
	const isUpdate = method === 'PATCH' || replaces === true;
	const other = id !== undefined && isUpdate ? otherId(record, id) : undefined;
	if (other !== undefined) return failure(`The CRM returned record ${other} instead of ${id}, which the node tried to change`, 20);
	const hasId = idText(record?.id) !== undefined;
	const needsId = id === undefined || (isUpdate && status !== 204);
	// A write that is only accepted may be answered with a job (RFC 9110, section 15.3.3).
	if (needsId && (!hasId || status === 202) && api.isSelfDescribed()) {
		return failure(`The CRM accepted the write (${status}), but no record came back`, 9);
	}
	return id === undefined || hasId ? record ?? {} : { id, ...record };
}
