import { jobQuery } from '../api/openapi/jobs';
import type { WriteDescription } from '../api/openapi/writing';
import { readBinary } from '../files/binary';
import { ItemWithFiles } from '../files/itemWithFiles';
import { readRecords } from '../files/rows';
import { collectionPath } from '../mapping/locator';
import type { Execution, Operation } from '../model';
import { binaryFieldProperty, columnMapping, fileSettingsOf, importOptions, importProperties, noChoice } from '../parameters/file';
import { importRows } from '../writing/fileImport';
import type { ImportPlan } from '../writing/importPlan';

const writes = ['create', 'upsert', 'update', 'delete'] as const;

/** @param action the entry in n8n's list of actions, such as `Import a file of contacts` */
export function importFile(action: string): Operation {
	return {
		option: {
			name: 'Import File',
			value: 'importFile',
			action,
			description: 'Write a record for each row of a CSV or JSON file, of any size',
		},

		properties: () => [binaryFieldProperty, ...importProperties],
		options: importOptions,
		output: null,
		write: ({ upsert, create }) => upsert ?? create,

		async prepare(job) {
			return async (item) => {
				const plan = await planOf(job, item);
				const field = String(job.n8n.getNodeParameter('binaryField', item, 'data'));
				const file = await readRecords(readBinary(job.n8n, item, field), fileSettingsOf(job.n8n, item));
				try {
					checkColumns(plan, file.columns);
					const { json, files } = await importRows(job, plan, file);
					return new ItemWithFiles(json, files);
				} finally {
					await file.close();
				}
			};
		},
	};
}

/** @throws Error in the user's words where the service does not offer it, or a parameter is wrong */
async function planOf(job: Execution, item: number): Promise<ImportPlan> {
	const { n8n, resource } = job;
	const operation = n8n.getNodeParameter('importAs', item, 'create') as (typeof writes)[number];
	if (!writes.includes(operation)) throw noChoice('What to Do', operation, writes);
	const write = (await job.api.describe(resource.path))?.[operation];
	if (!write?.job) {
		throw new Error(
			`The service’s description does not say how files are imported for ${resource.path} (${operation}). Read the file with Extract from File, and write its rows with the node’s other operations.`,
		);
	}
	const path = collectionPath(job, item);
	const trial = n8n.getNodeParameter('trial', item, false) === true;
	const columns = columnMapping(n8n, item);
	return {
		item,
		operation,
		description: write.job,
		fields: write.fields,
		path: path.replace(/^\/v1/, '') as `/${string}`,
		query: { ...jobQuery(write.job, path), ...(operation === 'upsert' && matchOf(job, item, write)) },
		clearsEmpty: n8n.getNodeParameter('options.emptyCells', item, 'leave') === 'clear',
		...(columns && { columns }),
		...(trial && { trialRows: trialRowsOf(job, item) }),
	};
}

function matchOf({ n8n }: Execution, item: number, { match }: WriteDescription): Record<string, string> {
	const field = String(n8n.getNodeParameter('matchOn', item, '') ?? '').trim() || match?.values[0];
	return match && field !== undefined ? { [match.name]: field } : {};
}

function trialRowsOf({ n8n }: Execution, item: number): number {
	const rows = Math.floor(Number(n8n.getNodeParameter('trialRows', item, 100)));
	if (rows >= 1) return rows;
	throw new Error('Rows of the Trial: enter a number of at least 1.');
}

/** @throws Error in the user's words where the file lacks a column the user has mapped */
function checkColumns({ columns }: ImportPlan, header: string[] | undefined): void {
	const missing = header && columns && [...columns.keys()].filter((column) => !header.includes(column));
	if (!missing || missing.length === 0) return;
	throw new Error(
		`Columns: the file has no column ${missing.map((name) => `‘${name}’`).join(', ')}. Its columns are ${header.join(', ')}. Nothing was written.`,
	);
}
