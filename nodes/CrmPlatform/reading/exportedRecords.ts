import type { IDataObject } from 'n8n-workflow';

import { problemOfItem } from '../api/http/problem';
import { reportsFailure } from '../api/http/problemBody';

/** Two sets of this many ids are remembered, which limits memory: a repeated record comes soon after its first occurrence. */
const maxRemembered = 100_000;

/**
 * Checks that an export returns its records, each once.
 *
 * @param haveIds whether the service describes that records have ids
 * @throws Error from the returned function, in the user's words, for a repeated record, one without an id, and
 * an error in place of a record
 */
export function checkExported(haveIds: boolean): (records: IDataObject[]) => void {
	let [ids, older] = [new Set<string>(), new Set<string>()];
	return (records) => {
		for (const record of records) {
			const { id } = record;
			const isId = (typeof id === 'string' && id !== '') || typeof id === 'number';
			if (!isId && reportsFailure(record)) {
				throw incompleteExport(`an error instead of a record: ${problemOfItem(422, record).message}`);
			}
			if (!isId && haveIds) throw incompleteExport('a record without an ID');
			if (!isId) continue;
			if (ids.has(String(id)) || older.has(String(id))) throw incompleteExport(`the record ${id} twice`);
			ids.add(String(id));
			if (ids.size >= maxRemembered) [ids, older] = [new Set(), ids];
		}
	};
}

const incompleteExport = (problem: string): Error =>
	new Error(
		`The CRM’s export contains ${problem}, so the file would be wrong. Run the export again; if this persists, report it to the CRM’s support.`,
	);
