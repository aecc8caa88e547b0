import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { Query } from '../api/http/path';
import { labelFor, type Field } from '../api/openapi/fields';
import type { ResourceDescription } from '../api/openapi/description';
import type { WriteDescription } from '../api/openapi/writing';
import { isEmptyCell, objectFields } from '../mapping/objectFields';
import { readFields, readMapping, type ReadFields } from '../mapping/readFields';
import { automaticMapping } from '../mapping/stored';
import type { Execution, Operation } from '../model';
import { mapperProperty } from '../parameters/fields';
import { describedWrite } from '../writing/describedOperation';
import { applyPresets, requireAnyValue } from '../writing/presets';
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
				'Write all input items in the background. Each item is one record, mapped automatically as Create and Update map it.',
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
						const lines = readable(job, items, await readLines(job, settings));
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
		{ name: 'Clear the Field', value: 'clear', description: 'Erase the value the record has' },
		{ name: 'Leave the Field as It Is', value: 'leave', description: 'Do not send the field' },
	],
	default: 'leave',
	description: 'What an empty value of an item does to a record that exists already',
};

const idField: Field = {
	name: 'id',
	path: ['id'],
	label: 'ID',
	description: '',
	kind: 'text',
	required: true,
};

/**
 * Reads the lines of an import as the operation it does in the background reads its items.
 *
 * @throws Error in the user's words where the service does not describe that operation
 */
async function readLines(job: Execution, { resource, operation }: Query): Promise<ReadFields> {
	const path = `/${String(resource)}` as const;
	if (operation === 'delete') return (item) => idOf(job.n8n.getInputData()[item]?.json ?? {});

	const description = await job.api.describe(path);
	const write = description?.[operation as keyof ResourceDescription] as WriteDescription | undefined;
	if (!write?.fields) {
		throw new Error(
			`The service’s description does not say which fields ${labelFor(String(operation))} takes for ${path}, so the items cannot be read and nothing was sent. Check Resource and Operation.`,
		);
	}
	const isUpdate = operation === 'update';
	const fields = isUpdate ? [idField, ...write.fields.filter(({ name }) => name !== 'id')] : write.fields;
	const { parents: _parents, ...about } = { ...job.resource, path };
	const nulls = operation === 'create' ? 'skip' : 'clear';
	const read = await readMapping({ ...job, resource: about }, automaticMapping(job.n8n), fields, nulls);
	return (item) => {
		const line = read(item);
		if (!isUpdate) return requireAnyValue(line);
		const { id, ...values } = line;
		requireAnyValue(values);
		if (isEmptyCell(id)) throw noId();
		return line;
	};
}

function idOf(json: IDataObject): IDataObject {
	const [[, id] = []] = objectFields([idField])(json).values;
	if (isEmptyCell(id)) throw noId();
	return { id: id as string };
}

const noId = () => new Error('The item has no id, which says which record to change.');

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
			description: 'Collect all records of a kind in the background. Get Results gives them.',
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
	{ displayName: 'Settings', name: 'fields', description: 'The kind of records, and what to do with them' },
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
