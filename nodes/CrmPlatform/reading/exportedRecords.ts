import type { IDataObject } from 'n8n-workflow';

import { problemOfItem } from '../api/http/problem';
import { describesFailure } from '../api/http/problemBody';
import { idText } from '../base/json';

/** Maximum size of each of two sets of recent ids. That limits memory; a repeated record comes soon after its first occurrence. */
const maxIdsPerSet = 100_000;

/**
 * Returns a function that checks that the parts of an export are records, each of which occurs once.
 *
 * @param haveIds whether the service describes that records have ids
 * @throws Error from that function, in the user's words, for a repeated record, one without an id, and an error in place
 * of a record
 */
export function checkExported(haveIds: boolean): (records: IDataObject[]) => void {
	let [ids, older] = [new Set<string>(), new Set<string>()];
	return (records) => {
		for (const record of records) {
			const id = idText(record.id);
			if (id === undefined) {
				if (describesFailure(record)) throw incompleteExport(`an error instead of a record: ${problemOfItem(422, record).message}`);
				if (haveIds) throw incompleteExport('a record without an ID');
				continue;
			}
			if (ids.has(id) || older.has(id)) throw incompleteExport(`the record ${id} twice`);
			ids.add(id);
			if (ids.size >= maxIdsPerSet) [ids, older] = [new Set(), ids];
		}
	};
}

const incompleteExport = (problem: string): Error =>
	new Error(
		`The CRM’s export contains ${problem}, so the file would be wrong. Run the export again; if this persists, report it to the CRM’s support.`,
	);
