import type { IDataObject } from 'n8n-workflow';

import { problemOfItem } from '../api/http/problem';
import { reportsFailure } from '../api/http/problemBody';

/** Ids that are remembered twice over: the same record comes again close to where it was, and memory is little. */
const maxRemembered = 100_000;

/**
 * Checks that an export returns its records, each once.
 *
 * @param haveIds whether the service describes that records have ids
 * @throws Error from the returned function, in the user's words, at a record that came before, at one
 * without an id, and at an error in the place of a record
 */
export function checkExported(haveIds: boolean): (records: IDataObject[]) => void {
	let [ids, older] = [new Set<string>(), new Set<string>()];
	return (records) => {
		for (const record of records) {
			const { id } = record;
			const isId = (typeof id === 'string' && id !== '') || typeof id === 'number';
			if (!isId && reportsFailure(record)) throw notWhole(`an error instead of a record: ${problemOfItem(422, record).message}`);
			if (!isId && haveIds) throw notWhole('a record without an ID');
			if (!isId) continue;
			if (ids.has(String(id)) || older.has(String(id))) throw notWhole(`the record ${id} twice`);
			ids.add(String(id));
			if (ids.size >= maxRemembered) [ids, older] = [new Set(), ids];
		}
	};
}

const notWhole = (what: string): Error =>
	new Error(
		`The service’s export contains ${what}, so the file would be wrong. Run the export again; if this persists, report it to the service’s support.`,
	);
