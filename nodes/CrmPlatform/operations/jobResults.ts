import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { Execution, Operation } from '../model';
import { recordAt, recordProperty } from '../parameters/record';

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

/** Milliseconds between two looks at a job: rarer the longer it takes. */
const firstLook = 500;
const rarestLook = 10_000;

const ends = ['completed', 'failed', 'canceled'];

/** Seconds, where the user has set no Longest Wait: that of a request is too short for most jobs. */
const longestJob = 3600;

async function ended(job: Execution, item: number): Promise<void> {
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
