import type { Connection } from '../api/connection';
import { encodedPath } from '../api/http/path';
import { findRecord, recordName } from '../api/record';
import { getOrCreate } from '../base/maps';
import type { NodeFailure } from '../failure';
import { collectionPath } from '../mapping/locator';
import type { NodeRun } from '../model';

/** Maximum number of existing records that are read per execution: each costs a request. */
const maxRead = 10;

/** The names of existing records, by ID; undefined if they could not be read. */
const existingNames = new WeakMap<Connection, Map<string, string | undefined>>();

/**
 * Adds the name of an existing record to its ID in an error (`duplicate`), since an ID means nothing to people. If it cannot
 * be read, the error stays as it is.
 */
export async function withRecordName(run: NodeRun, failure: NodeFailure, item: number): Promise<NodeFailure> {
	const { existing_id: id } = (failure.context.data ?? {}) as { existing_id?: unknown };
	if (typeof id !== 'string' || id === '') return failure;
	const names = getOrCreate(existingNames, run.api, () => new Map<string, string | undefined>());
	if (!names.has(id) && names.size < maxRead) {
		const record = await findRecord(run.api, collectionPath(run, item) + encodedPath`/${id}`).catch(() => undefined);
		names.set(id, record && recordName(record));
	}
	const name = names.get(id);
	if (name === undefined) return failure;
	const withName = (text: string) => text.replaceAll(id, () => `${name} (${id})`);
	failure.message = withName(failure.message);
	failure.description = withName(failure.description ?? '');
	return failure;
}
