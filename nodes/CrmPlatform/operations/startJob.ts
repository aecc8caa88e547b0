import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { Query } from '../api/http/path';
import type { WriteDescription } from '../api/openapi/writing';
import { readFields } from '../mapping/readFields';
import type { Execution, Operation } from '../model';
import { mapperProperty } from '../parameters/fields';
import { applyPresets } from '../writing/presets';
import { describedWrite } from '../writing/describedOperation';
import { writeOne } from '../writing/single';

/** Most input items in one job: what the service takes is told by its errors, this keeps them rare. */
const mostLines = 100_000;

const exporting = 'export';

/** The job of all input items: each is a line of it, as it is. */
export function startImport(): Operation {
	return {
		option: {
			name: 'Start Import',
			value: 'startImport',
			action: 'Start an import of many records',
			description:
				'Write all input items in the background. Each item is one record, in the fields of the service.',
		},

		properties: () => [settingsProperty],
		write: ({ create }) => withoutExport(asked(create, ['resource', 'operation', 'match_on'])),

		async prepare(job) {
			const { description, orderOf } = await ordering(job);
			const items = job.n8n.getInputData();
			return {
				size: mostLines,
				assemble: (indexes) => ({
					records: new Set(),
					isOne: true,
					async send() {
						const lines = indexes.map((item) => items[item]?.json ?? {});
						return [await start(job, description, orderOf(indexes[0] ?? 0), indexes, lines)];
					},
				}),
			};
		},
	};
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
		write: ({ create }) => asked(create, ['resource']),

		async prepare(job) {
			const { description, orderOf } = await ordering(job);
			return async (item) =>
				await start(job, description, { ...orderOf(item), operation: exporting }, [item]);
		},
	};
}

/** No form for records: the items are the records, as they are, and an export takes none. */
const settingsProperty: INodeProperties = mapperProperty(
	{ displayName: 'Settings', name: 'fields', description: 'What the job is about' },
	{
		mode: 'add',
		resourceMapperMethod: 'getFields',
		fieldWords: { singular: 'setting', plural: 'settings' },
		addAllFields: true,
		multiKeyMatch: false,
		supportAutoMap: false,
	},
);

/** The parameters of a job's start, which are asked for like fields. */
function asked(create: WriteDescription | undefined, only: string[]): WriteDescription | undefined {
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

async function ordering(job: Execution) {
	const description = await describedWrite(job);
	const orderOf = await readFields(job, 'fields', description.fields, 'skip');
	return { description, orderOf: (item: number) => orderOf(item) as Query };
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
