import { NodeOperationError, type IDataObject, type INodeProperties } from 'n8n-workflow';

import type { Execution, Operation } from '../model';
import { recordAt, recordProperty } from '../parameters/record';

/** The results of a job: one for each line of an import, or the exported records. */
export function getResults(): Operation {
	return {
		option: {
			name: 'Get Results',
			value: 'getResults',
			action: 'Get the results of a job',
			description: 'The result of each line of an import, or the records of an export',
		},

		properties: (resource) => [recordProperty(resource), waitProperty],
		options: [failedRowsOption],
		output: null,

		async prepare(job) {
			return async (item) => {
				if (job.n8n.getNodeParameter('wait', item)) await ended(job, item);
				const path = `${recordAt(job, item).path}/results`;
				const { body } = await job.api.send({ method: 'GET', path });
				const results = linesIn(body, path);
				tellFailedRows(job, item, results);
				return results;
			};
		},
	};
}

/** @throws Error in the user's words where a line is not an object */
function linesIn(body: unknown, path: string): IDataObject[] {
	const lines: unknown[] = Array.isArray(body) ? body : body === undefined || body === null ? [] : [body];
	if (lines.every((line) => typeof line === 'object' && line !== null)) return lines as IDataObject[];
	throw new Error(
		`The service did not answer ${path} with a record in each line. Check that the base URL in the credential is the address of the API, and try again.`,
	);
}

const failedRowsOption: INodeProperties = {
	displayName: 'Failed Rows',
	name: 'failedRows',
	type: 'options',
	options: [
		{ name: 'Return Them', value: 'return', description: 'Return all results, and tell how many failed' },
		{ name: 'Stop the Node', value: 'stop', description: 'Fail if the service refused any row' },
	],
	default: 'stop',
	description: 'What rows of an import do that the service refused',
};

/**
 * Rows the service refused must not go unnoticed: the job itself succeeds.
 *
 * @throws NodeOperationError where there are any, unless the user wants them returned
 */
function tellFailedRows({ n8n, api }: Execution, item: number, results: IDataObject[]): void {
	// An exported record may have a status too, but no number.
	const failed = results.filter(({ status }) => typeof status === 'number' && status >= 400);
	if (failed.length === 0) return;
	const message = `${failed.length} of ${results.length} rows were refused`;
	const reasons = failed.slice(0, 5).map(reasonOf).join('\n');
	if (n8n.getNodeParameter('options.failedRows', item, 'stop') !== 'return') {
		const description = `The other rows are written.\n${reasons}\nFor the result of each row, set Failed Rows in the options to Return Them.`;
		throw new NodeOperationError(n8n.getNode(), message, { description, itemIndex: item });
	}
	api.notices.add(`${message}.\n${reasons}`);
}

function reasonOf({ index, status, error }: IDataObject): string {
	const { detail, title, errors } = (error ?? {}) as IDataObject;
	const [first] = (Array.isArray(errors) ? errors : []) as Array<IDataObject | undefined>;
	const place = typeof first?.pointer === 'string' ? ` (${first.pointer})` : '';
	return `Row ${String(index)}: ${String(first?.detail ?? detail ?? title ?? status)}${place}`;
}

const waitProperty: INodeProperties = {
	displayName: 'Wait Until Done',
	name: 'wait',
	type: 'boolean',
	default: true,
	description:
		'Whether to wait until the job has ended: for an hour, unless Longest Wait in the options says otherwise. If turned off, the node fails while the job is running.',
};

/** Milliseconds between two requests for a job's status: fewer requests the longer it takes. */
const firstPause = 500;
const longestPause = 10_000;

const ends = ['completed', 'failed', 'canceled'];

/** Seconds, where the user has set no Longest Wait: that of a request is too short for most jobs. */
const longestJob = 3600;

async function ended(job: Execution, item: number): Promise<void> {
	const { api, n8n } = job;
	const { path } = recordAt(job, item);
	const wanted = Number(n8n.getNodeParameter('options.longestWait', item, NaN));
	const longest = wanted >= 0 ? wanted : longestJob;
	let waited = 0;
	for (let pause = firstPause; ; pause = Math.min(longestPause, pause * 1.5)) {
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
