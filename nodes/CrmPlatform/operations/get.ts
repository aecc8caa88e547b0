import type { IDataObject } from 'n8n-workflow';

import type { Operation, Result } from '../model';
import { describedOperation } from '../writing/describedOperation';
import { recordAt, recordProperty } from '../parameters/record';
import { outputFieldsOption, simplifyProperty } from '../parameters/output';
import { chosenFields, simplify, summaryFields } from '../reading/simplify';

/** @param action what n8n's list of actions says, such as `Get a contact` */
export function get(action: string): Operation {
	return {
		option: { name: 'Get', value: 'get', action, description: 'Read one record' },

		properties: (resource) => [recordProperty(resource), simplifyProperty],
		options: [outputFieldsOption],

		async prepare(job) {
			const fields = await describedOperation(job, 'fields');
			const summary = await describedOperation(job, 'summary');
			const read = async (item: number): Promise<Result> => {
				const { path } = recordAt(job, item);
				const { body } = await job.api.send({ method: 'GET', path });
				if (typeof body !== 'object' || body === null || Array.isArray(body)) {
					throw new Error(notOne(path));
				}
				const output = chosenFields(job, item, fields) ?? summaryFields(job.n8n, item, summary);
				return output ? simplify(body as IDataObject, output) : (body as IDataObject);
			};
			// Each is a request of its own, and none waits for another.
			return {
				size: 1,
				assemble: ([item = 0]) => ({ records: new Set(), send: async () => [await read(item)] }),
			};
		},
	};
}

const notOne = (path: string) =>
	`The service did not answer ${path} with a record. Check that the base URL in the credential is the address of the API, and try again.`;
