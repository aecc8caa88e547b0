import type { IDataObject } from 'n8n-workflow';

import { encodedPath, type Collection } from '../api/http/path';
import { outdatedVersion } from '../api/http/statuses';
import type { WriteDescription } from '../api/openapi/writing';
import { isAnsweredWith, isNotFound } from '../api/refusals';
import { idText } from '../base/json';
import type { NodeRun, MayContinue, Write } from '../model';
import { runAll } from '../schedule';
import { inSlices } from '../writing/batches';
import { protectVersions, versionOf } from '../writing/versions';
import type { ReportedChange } from './recordChange';

/** The write of a change: the record to change or delete, and the body that creates or changes one, as a merge patch (RFC 7396). */
export type ChangeWrite = Pick<ReportedChange, 'record' | 'patch' | 'keySubject' | 'isPermanent'>;

/**
 * Makes changes of one action: under keys of their own, and under the versions that were read.
 *
 * @param runKey distinguishes their keys from those of other changes
 * @returns the answer to each write: the record as the service returned it, or the error; undefined if it was not tried
 */
export async function sendChanges(
	run: NodeRun, description: WriteDescription,
	{ collection, writes, runKey }: { collection: Collection; writes: ChangeWrite[]; runKey: string }, mayContinue: MayContinue,
): Promise<Array<IDataObject | Error | undefined>> {
	const prepared = writes.map(({ record, patch, keySubject, isPermanent }): Write => {
		const id = record && String(record.id);
		const target = id === undefined ? { path: collection } : { id, path: collection + encodedPath`/${id}` };
		return { collection, ...target, version: versionOf(record), body: patch, keySubject, query: isPermanent ? { permanent: true } : undefined };
	});
	const areAlone = protectVersions(run, description, writes.map(({ record }) => record))
		|| writes.some(({ keySubject, isPermanent }) => keySubject !== undefined || isPermanent);
	const work = inSlices({ ...run, identity: { ...run.identity, runKey } }, { description, writes: prepared, output: {} }, areAlone);
	const answers: Array<IDataObject | Error | undefined> = writes.map(() => undefined);
	for await (const { item, result } of runAll(work, writes.length, mayContinue)) {
		// What is gone for good was erased before, perhaps by an attempt whose response was lost.
		const isErased = writes[item]!.isPermanent && isNotFound(result);
		answers[item] = isErased ? {} : result instanceof Error ? result : withTextId(result as IDataObject);
	}
	return answers;
}

function withTextId({ id, ...record }: IDataObject): IDataObject {
	const text = idText(id);
	return text === undefined ? record : { ...record, id: text };
}

/** Why a record is not as it was when a sync or an undo read it; undefined if the error says nothing of the kind. */
export function changedSinceRead(error: Error): string | undefined {
	if (isAnsweredWith(error, outdatedVersion)) return 'The CRM’s record was changed after this run read it. Nothing was overwritten.';
	return isNotFound(error) ? 'The CRM’s record was deleted after this run read it.' : undefined;
}
