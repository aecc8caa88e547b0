import { sleep, type IDataObject, type INodeProperties } from 'n8n-workflow';

import type { Job, Operation } from '../model';
import { recordAt, recordProperty } from './record';

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
	description: 'Whether to wait for the job to end, or to fail while it is not done',
};

/** Milliseconds between two looks at a job: rarer the longer it takes. */
const firstLook = 500;
const rarestLook = 10_000;

const ends = ['completed', 'failed', 'canceled'];

async function ended(job: Job, item: number): Promise<void> {
	const { path } = recordAt(job, item);
	for (let pause = firstLook; ; pause = Math.min(rarestLook, pause * 1.5)) {
		const { body } = await job.api.send({ method: 'GET', path });
		if (ends.includes(String((body as IDataObject).status))) return;
		await sleep(pause, job.n8n.getExecutionCancelSignal());
	}
}
