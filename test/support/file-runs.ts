import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { parse } from 'csv-parse/sync';

import type { BinaryStore } from './binary-store.ts';
import { run, type Setup } from './node-runs.ts';
import { filterRows } from './parameters.ts';
import type { TestSandbox } from './sandbox.ts';

/** Import File and Export File, run against a sandbox. */
export function fileRuns(sandbox: TestSandbox, store: BinaryStore) {
	const importing = (more: IDataObject = {}, kind = 'contact') =>
		({ resource: 'file', kind, operation: 'importFile', binaryField: 'data', preview: false, ...more }) as INodeParameters;

	const exporting = (more: IDataObject = {}, kind = 'contact') =>
		({ resource: 'file', kind, operation: 'exportFile', filters: filterRows({}), ...more }) as INodeParameters;

	const setupOf = async (content: string | Buffer, more: IDataObject = {}, setup: Partial<Setup> = {}) => ({
		credential: sandbox.credential,
		parameters: importing(more),
		files: { data: await store.put(content) },
		...setup,
	});

	return {
		importing,
		setupOf,

		/** Imports a file. @returns the output, with both reports as text */
		async importOf(content: string | Buffer, more: IDataObject = {}, setup: Partial<Setup> = {}) {
			const { items, hints } = await run(await setupOf(content, more, setup));
			const [item] = items;
			return {
				json: item!.json,
				hints,
				// A preview has no file of finished rows, and a file of failures only if there are failures.
				done: item!.binary?.done ? await store.text(item!.binary.done) : '',
				failed: item!.binary?.failed ? await store.text(item!.binary.failed) : '',
			};
		},

		/** Exports a list. @returns the output, with the file as text */
		async exportOf(more: IDataObject = {}, resource = 'contact', setup: Partial<Setup> = {}) {
			const { items, hints } = await run({ credential: sandbox.credential, parameters: exporting(more, resource), ...setup });
			return { json: items[0]!.json, hints, items, text: await store.text(items[0]!.binary?.data) };
		},
	};
}

export const rowsOf = (csv: string): Array<Record<string, string>> => parse(csv, { columns: true, bom: true });
