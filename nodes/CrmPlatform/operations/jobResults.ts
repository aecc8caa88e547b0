import { NodeOperationError, type IDataObject, type INodeProperties } from 'n8n-workflow';

import type { Execution, Operation } from '../model';
import { recordAt, recordProperty } from '../parameters/record';
import { resultLines, waitForJob } from '../writing/backgroundJob';

/** The results of a job: one for each line of an import, or the exported records. */
export function getResults(): Operation {
	return {
		option: {
			name: 'Get Results',
			value: 'getResults',
			action: 'Get the results of a job',
			description: 'Retrieve the result of each row of an import, or the records of an export',
		},

		properties: (resource) => [recordProperty(resource), waitProperty],
		options: [failedRowsOption],
		output: null,

		async prepare(job) {
			return async (item) => {
				if (job.n8n.getNodeParameter('wait', item)) await waitForJob(job, item, recordAt(job, item).path);
				const path = `${recordAt(job, item).path}/results`;
				const { body } = await job.api.send({ method: 'GET', path });
				const results = resultLines(body, path);
				tellFailedRows(job, item, results);
				return results;
			};
		},
	};
}

const failedRowsOption: INodeProperties = {
	displayName: 'Failed Rows',
	name: 'failedRows',
	type: 'options',
	options: [
		{ name: 'Return Them', value: 'return', description: 'Return the results of all rows and show how many failed' },
		{ name: 'Stop the Node', value: 'stop', description: 'Fail if any row was rejected' },
	],
	default: 'stop',
	description: 'What to do if the service rejects rows of an import',
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
	const message = `${failed.length} of ${results.length} rows were rejected`;
	const reasons = failed.slice(0, 5).map(reasonOf).join('\n');
	if (n8n.getNodeParameter('options.failedRows', item, 'stop') !== 'return') {
		const description = `The other rows were written.\n${reasons}\nTo get the result of each row, set Failed Rows in the options to Return Them.`;
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
		'Whether to wait until the job has finished, for up to an hour or the Longest Wait set in the options. If turned off, the node fails while the job is still running.',
};
