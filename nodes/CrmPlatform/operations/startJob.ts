import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { Query } from '../api/http/path';
import type { WriteDescription } from '../api/openapi/writing';
import { readFields, type ReadFields } from '../mapping/readFields';
import { automaticMapping } from '../mapping/stored';
import type { Execution, Operation } from '../model';
import { mapperProperty } from '../parameters/fields';
import { describedWrite } from '../writing/describedOperation';
import { readJobLines } from '../writing/jobLines';
import { applyPresets } from '../writing/presets';
import { writeOne } from '../writing/single';

/** Most input items in one job: the service refuses a job that is too large, and this keeps that rare. */
const mostLines = 100_000;

const exporting = 'export';

/** One job for all input items, each of which is a line. */
export function startImport(): Operation {
	return {
		option: {
			name: 'Start Import',
			value: 'startImport',
			action: 'Start an import of many records',
			description:
				'Write all input items in the background. Each item is one record, and its fields are mapped automatically.',
		},

		properties: () => [settingsProperty],
		options: [emptyCellsInImport],
		write: ({ create }) => withoutExport(settingsOf(create, ['resource', 'operation', 'match_on'])),

		async prepare(job) {
			const { description, settingsFor } = await readSettings(job);
			return {
				size: mostLines,
				assemble: (items) => ({
					records: new Set(),
					isOne: true,
					async send() {
						const settings = settingsFor(items[0] ?? 0);
						const lines = readable(job, items, await linesFor(job, settings));
						return [await start(job, description, settings, items, lines)];
					},
				}),
			};
		},
	};
}

const emptyCellsInImport: INodeProperties = {
	displayName: 'Empty Cells',
	name: 'emptyCells',
	type: 'options',
	options: [
		{ name: 'Clear the Field', value: 'clear', description: 'Erase the value in the record' },
		{ name: 'Leave the Field Unchanged', value: 'leave', description: 'Keep the value in the record' },
	],
	default: 'leave',
	description: 'What to do with fields whose value in the input item is empty',
};

const linesFor = async (job: Execution, { resource, operation }: Query): Promise<ReadFields> =>
	await readJobLines(job, `/${String(resource)}`, String(operation), automaticMapping(job.n8n));

/**
 * The lines of the items that can be read. The others stop the node or, where it is to continue on
 * fail, are told and left out.
 *
 * @throws Error in the user's words
 */
function readable({ n8n, api }: Execution, items: number[], read: ReadFields): object[] {
	const lines: object[] = [];
	const failures: string[] = [];
	for (const item of items) {
		try {
			lines.push(read(item));
		} catch (error) {
			failures.push(`Item ${item}: ${(error as Error).message}`);
		}
	}
	if (failures.length === 0) return lines;
	const reasons = failures.slice(0, 5).join('\n');
	const count = `${failures.length} of ${items.length} items cannot be read`;
	if (!n8n.continueOnFail() || lines.length === 0) {
		throw new Error(`${count}, so nothing was sent.\n${reasons}`);
	}
	api.notices.add(`${count} and were left out of the import.\n${reasons}`);
	return lines;
}

/** A job that collects all records of a kind. */
export function startExport(): Operation {
	return {
		option: {
			name: 'Start Export',
			value: 'startExport',
			action: 'Start an export of all records',
			description: 'Collect all records of a resource in the background. Use Get Results to retrieve them.',
		},

		properties: () => [settingsProperty],
		write: ({ create }) => settingsOf(create, ['resource']),

		async prepare(job) {
			const { description, settingsFor } = await readSettings(job);
			return async (item) =>
				await start(job, description, { ...settingsFor(item), operation: exporting }, [item]);
		},
	};
}

/** No mapper for records: an import takes the items, and an export takes none. */
const settingsProperty: INodeProperties = mapperProperty(
	{ displayName: 'Settings', name: 'fields', description: 'Which records to process, and how' },
	{
		mode: 'add',
		resourceMapperMethod: 'getFields',
		fieldWords: { singular: 'setting', plural: 'settings' },
		addAllFields: true,
		multiKeyMatch: false,
		supportAutoMap: false,
	},
);

/** The query parameters that start a job, which the user fills in like fields. */
function settingsOf(create: WriteDescription | undefined, only: string[]): WriteDescription | undefined {
	return create && applyPresets({ ...create, fields: create.query }, { only });
}

/** An export takes no items, and has an operation of its own. */
function withoutExport(write: WriteDescription | undefined): WriteDescription | undefined {
	const isImport = ({ value }: { value: unknown }) => value !== exporting;
	return (
		write && {
			...write,
			fields: write.fields.map((field) =>
				field.choices ? { ...field, choices: field.choices.filter(isImport) } : field,
			),
		}
	);
}

async function readSettings(job: Execution) {
	const description = await describedWrite(job);
	const settingsFor = await readFields(job, 'fields', description.fields, 'skip');
	return { description, settingsFor: (item: number) => settingsFor(item) as Query };
}

async function start(
	job: Execution,
	description: WriteDescription,
	query: Query,
	items: number[],
	lines?: object[],
): Promise<IDataObject> {
	const path = `/v1${job.resource.path}`;
	return await writeOne(job, description, { path, query, ...(lines && { lines }) }, items);
}
