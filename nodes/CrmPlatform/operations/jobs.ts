import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { Query } from '../api/path';
import type { WriteDescription } from '../api/writing';
import { columnsOf } from '../mapping/columns';
import type { Job, Operation } from '../model';
import { fieldsProperties } from './fieldsProperty';
import { narrowed } from './narrowed';
import { offeredWrite } from './offered';
import { recordAt, recordProperty } from './record';
import { writeOne } from './writeOne';

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

		properties: () => fieldsProperties('add'),
		write: ({ create }) => withoutExport(asked(create, ['resource', 'operation', 'match_on'])),

		async prepare(job) {
			const { description, orderOf } = await ordering(job);
			const items = job.n8n.getInputData();
			return {
				size: mostLines,
				assemble: (indexes) => ({
					records: new Set(),
					async send() {
						const lines = indexes.map((item) => items[item]?.json ?? {});
						// One job is one result; the items after the first are part of it.
						const started = await start(job, description, orderOf(indexes[0] ?? 0), indexes, lines);
						return indexes.map((_, place) => (place === 0 ? started : []));
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

		properties: () => fieldsProperties('add'),
		write: ({ create }) => asked(create, ['resource']),

		async prepare(job) {
			const { description, orderOf } = await ordering(job);
			return async (item) =>
				await start(job, description, { ...orderOf(item), operation: exporting }, [item]);
		},
	};
}

/** What a job has done: the result of each line, or the exported records. */
export function getResults(): Operation {
	return {
		option: {
			name: 'Get Results',
			value: 'getResults',
			action: 'Get the results of a job',
			description: 'What became of each line of an import, or the records of an export',
		},

		properties: (resource) => [recordProperty(resource), waitProperty],
		output: null,

		async prepare(job) {
			return async (item) => {
				if (job.n8n.getNodeParameter('wait', item)) await ended(job, item);
				const path = `${recordAt(job, item).path}/results`;
				const { body } = await job.api.send({ method: 'GET', path });
				return (body ?? []) as IDataObject[];
			};
		},
	};
}

const waitProperty: INodeProperties = {
	displayName: 'Wait Until Done',
	name: 'wait',
	type: 'boolean',
	default: true,
	description:
		'Whether to wait for the job to end (for an hour, unless Longest Wait in the options says otherwise), or to fail while it is not done',
};

/** The parameters of a job's start, which are asked for like fields. */
function asked(create: WriteDescription | undefined, only: string[]): WriteDescription | undefined {
	return create && narrowed({ ...create, fields: create.query }, { only });
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

async function ordering(job: Job) {
	const description = await offeredWrite(job);
	const orderOf = await columnsOf(job, 'fields', description.fields, 'skip');
	return { description, orderOf: (item: number) => orderOf(item) as Query };
}

async function start(
	job: Job,
	description: WriteDescription,
	query: Query,
	items: number[],
	lines?: object[],
): Promise<IDataObject> {
	const path = `/v1${job.resource.path}`;
	return await writeOne(job, description, { path, query, ...(lines && { lines }) }, items);
}

/** Milliseconds between two looks at a job: rarer the longer it takes. */
const firstLook = 500;
const rarestLook = 10_000;

const ends = ['completed', 'failed', 'canceled'];

/** Seconds, where the user has set no Longest Wait: that of a request is too short for most jobs. */
const longestJob = 3600;

async function ended(job: Job, item: number): Promise<void> {
	const { api, n8n } = job;
	const { path } = recordAt(job, item);
	const wanted = Number(n8n.getNodeParameter('options.longestWait', item, NaN));
	const longest = wanted >= 0 ? wanted : longestJob;
	let waited = 0;
	for (let pause = firstLook; ; pause = Math.min(rarestLook, pause * 1.5)) {
		const { body } = await api.send({ method: 'GET', path });
		if (ends.includes(String((body as IDataObject).status))) return;
		if (waited === 0) n8n.logger.info(`${n8n.getNode().name}: waiting for the job to end`);
		if (waited + pause > longest * 1000) {
			throw new Error(
				`The job has not ended within ${longest} s. It goes on: ask for its results later, or set Longest Wait in the options higher.`,
			);
		}
		await api.pause(pause);
		waited += pause;
	}
}
