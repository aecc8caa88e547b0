import type { IDataObject, NodeApiError } from 'n8n-workflow';

import { breaksRule } from '../api/http/rules';
import { mayBeWritten } from '../api/batchAnswers';
import { otherId, recordIn } from '../api/record';
import { idText } from '../base/json';
import { orThrow } from '../base/results';
import { checkExact } from '../base/numbers';
import { storedParameter } from '../mapping/locator';
import { isBlank } from '../values/blank';
import { idempotencyKey, valueKey } from '../api/http/idempotency';
import { isIdempotent, type ApiRequest, type ApiResponse } from '../api/http/request';
import type { IdempotencyHeader, WriteDescription } from '../api/openapi/writing';
import type { NodeRun, Write } from '../model';
import { replacementFor } from './replace';
import { rememberWrite } from './runState';
import { textProperty } from '../parameters/properties';

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
 * @param items indexes of the input items; or of one item, followed by the number of its part
 * @throws NodeApiError if the service refuses the write, or does not return the record; Error in the user's words if it
 * returns anything else
 */
export async function sendAlone(run: NodeRun, description: WriteDescription, write: Write, items: number[]): Promise<Written> {
	const { id, path, query, version, isRepeatable, body: changes, deletion } = write;
	const { method, takesIfMatch, sends } = description;
	const isReplaced = sends !== undefined && id !== undefined && changes !== undefined;
	const replacement = isReplaced ? await replacementFor(run, description, write) : undefined;
	if (replacement?.isUnchanged) return { record: replacement.record, status: 200 };
	const sent = replacement?.record ?? changes;
	const readVersion = takesIfMatch && version !== undefined ? `"${version}"` : undefined;
	const etag = replacement ? replacement.etag : readVersion;
	const request: ApiRequest = {
		method,
		path,
		...(etag !== undefined && { headers: { 'if-match': etag } }),
		...(query && { query }),
		...(sent && { body: sent }),
		...(isRepeatable !== undefined && { isRepeatable }),
	};
	const identity = { ...run.identity, ...(deletion !== undefined && { deletion }) };
	const { body, status, isReplayed } = await sendUnderKey({ ...run, identity }, description, request, items);
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

/**
 * Sends a request that writes, under an idempotency key if the service declares a header for it.
 *
 * @param items as in `sendAlone`; with Write Once Per, one item
 * @param isRepeatable whether a second write has no further effect
 * @returns the response, whatever its body
 * @throws NodeApiError if the service refuses the write; Error in the user's words if it does not support Write Once Per
 */
export async function sendUnderKey(
	run: NodeRun,
	{ idempotencyHeader: header, idempotencyKey: format }: IdempotencyHeader,
	request: ApiRequest,
	items: number[],
	isRepeatable = request.isRepeatable ?? isIdempotent(request),
): Promise<ApiResponse> {
	const { api, identity } = run;
	const isKeyed = header !== undefined && api.isSelfDescribed();
	const isOncePer = hasWriteOncePer(run);
	if (isOncePer && !isKeyed) {
		throw new Error(
			'Write Once Per: the CRM does not support idempotency keys for this operation, so nothing was sent. '
			+ 'Remove the option to write without this protection.',
		);
	}
	const [item = 0, ...part] = items;
	const key = isOncePer
		? valueKey(identity, [writeOncePer(run, item), ...part].join('/'), format)
		: idempotencyKey({ ...identity, items }, format);
	rememberWrite(run);
	if (!isRepeatable) warnOfRetries(run, isKeyed, isOncePer);
	return await api.send({ ...request, ...(header !== undefined && { idempotency: { header, key } }) });
}

/**
 * Warns a user whose write may be repeated: by a node that retries, if the service takes no key, and by a sub-workflow,
 * which n8n starts anew when its parent is retried. It is told the parent's number, but not which node, run and item of it
 * started it (n8n 2.41, getRunData), so its keys cannot follow the parent.
 */
function warnOfRetries({ n8n, api, operation }: NodeRun, isKeyed: boolean, isOncePer: boolean): void {
	const isSubExecution = n8n.getExecutionContext()?.parentExecutionId !== undefined;
	const mayBeOnce = operation.options?.includes(writeOncePerOption) === true && !isOncePer;
	if (isSubExecution && mayBeOnce) api.notices.add(startedAnew);
	if (isKeyed || !n8n.getNode().retryOnFail) return;
	api.notices.add(
		'The CRM does not support idempotency keys for this operation, so Retry On Fail may write records twice. '
		+ 'Turn it off, or check for duplicates after a failure.',
	);
}

const startedAnew =
	'This workflow was started by another one. If that one is retried, n8n starts this one anew, and everything is written again. '
	+ 'To prevent that, set Write Once Per to a value of the item, such as an order number.';

/** Option for writes that must happen once across all executions. */
export const writeOncePerOption = textProperty('Write Once Per', 'writeOncePer', {
	placeholder: 'e.g. {{ $json.orderNumber }}',
	description: 'A value such as an order number. For about a day, each value is written once, even across executions.',
});

/** Whether the user has set Write Once Per. */
export function hasWriteOncePer({ n8n }: NodeRun): boolean {
	const stored = storedParameter(n8n, 'options.writeOncePer', '');
	return stored !== null && stored !== '';
}

/**
 * The value for which an item is written once.
 *
 * @throws Error in the user's words if it is empty or not a single value
 */
export function writeOncePer({ n8n }: NodeRun, item: number): string {
	const value: unknown = n8n.getNodeParameter('options.writeOncePer', item, '');
	checkExact('Write Once Per', value);
	const isSingle = typeof value === 'string' || typeof value === 'number';
	if (isSingle && !isBlank(value)) return String(value);
	throw new Error(
		'Write Once Per: the expression returned no text or number for this item, so nothing was sent. Choose a value that every item has.',
	);
}
