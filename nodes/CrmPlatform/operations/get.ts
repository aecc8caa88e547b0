import type { IDataObject } from 'n8n-workflow';

import type { Operation, Result } from '../model';
import { offered } from './offered';
import { recordAt, recordProperty } from './record';
import { chosenFields, outputFieldsOption, simplified, simplifyProperty } from './simplify';

/** @param action what n8n's list of actions says, such as `Get a contact` */
export function get(action: string): Operation {
	return {
		option: { name: 'Get', value: 'get', action, description: 'Read one record' },

		properties: (resource) => [recordProperty(resource), simplifyProperty],
		options: [outputFieldsOption],

		async prepare(job) {
			const summary = await offered(job, 'summary');
			const read = async (item: number): Promise<Result> => {
				const { path } = recordAt(job, item);
				const { body } = await job.api.send({ method: 'GET', path });
				const simple = job.n8n.getNodeParameter('simplify', item, false) as boolean;
				const names = chosenFields(job.n8n, item) ?? (simple ? summary : undefined);
				return names ? simplified(body as IDataObject, names) : (body as IDataObject);
			};
			// Each is a request of its own, and none waits for another.
			return {
				size: 1,
				assemble: ([item = 0]) => ({ records: new Set(), send: async () => [await read(item)] }),
			};
		},
	};
}
