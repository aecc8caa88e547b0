import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { type Lifecycle, idFrom } from './lifecycle.ts';
import { byId, mapped } from '../../integration/parameters.ts';
import { postJob } from './sandbox-calls.ts';

/** Starts an import of as many records as the service takes, so that it cannot be done before it is canceled. */
async function startLongJob(): Promise<IDataObject[]> {
	const lines = Array.from({ length: 100_000 }, () => ({ name: randomUUID() }));
	return [{ id: (await postJob('resource=tags&operation=create', lines)).id }];
}

/** What is done with all that is no ordinary record. */
export function adminLifecycles(): Lifecycle[] {
	return [
		{
			resource: 'job',
			links: [
				{ name: 'cancel', resource: 'job', operation: 'cancel', parameters: { recordId: byId('={{ $json.id }}') } },
				{
					name: 'get',
					resource: 'job',
					operation: 'get',
					parameters: { recordId: idFrom('cancel'), simplify: false },
				},
				{
					name: 'getMany',
					resource: 'job',
					operation: 'getMany',
					parameters: { returnAll: false, limit: 1, simplify: false },
				},
			],
			input: startLongJob,
		},
		{
			resource: 'webhook',
			links: [
				{
					name: 'create',
					resource: 'webhook',
					operation: 'create',
					parameters: {
						fields: mapped({ url: 'http://127.0.0.1:9/hook', events: 'contact.created' }),
					},
				},
				{
					name: 'get',
					resource: 'webhook',
					operation: 'get',
					parameters: { recordId: idFrom('create'), simplify: false },
				},
				{
					name: 'update',
					resource: 'webhook',
					operation: 'update',
					parameters: { recordId: idFrom('create'), fields: mapped({ description: 'B' }) },
				},
				{
					name: 'getMany',
					resource: 'webhook',
					operation: 'getMany',
					parameters: { returnAll: false, limit: 1, simplify: true },
				},
				{
					name: 'rotateSecret',
					resource: 'webhook',
					operation: 'rotateSecret',
					parameters: { recordId: idFrom('create') },
				},
				{
					name: 'test',
					resource: 'webhook',
					operation: 'test',
					parameters: { recordId: idFrom('create') },
				},
				...['getMany', 'get', 'retry'].map((operation) => ({
					name: `delivery: ${operation}`,
					resource: 'webhookDelivery',
					operation,
					parameters: {
						webhookId: idFrom('create'),
						recordId: idFrom('delivery: getMany'),
						returnAll: false,
						limit: 1,
						simplify: false,
					},
				})),
				{
					name: 'recover',
					resource: 'webhook',
					operation: 'recover',
					parameters: {
						recordId: idFrom('create'),
						fields: mapped({ since: new Date().toISOString() }),
					},
				},
				{
					name: 'delete',
					resource: 'webhook',
					operation: 'delete',
					parameters: { recordId: idFrom('create') },
				},
			],
		},
		{
			resource: 'event',
			links: [
				{
					name: 'getMany',
					resource: 'event',
					operation: 'getMany',
					parameters: { returnAll: false, limit: 1, simplify: false },
				},
				{
					name: 'get',
					resource: 'event',
					operation: 'get',
					parameters: { recordId: idFrom('getMany'), simplify: false },
				},
			],
		},
		{
			resource: 'change',
			links: [
				{ name: 'create', resource: 'company', operation: 'create', parameters: { fields: mapped({ name: randomUUID() }) } },
				{
					name: 'undo',
					resource: 'change',
					operation: 'undo',
					parameters: { preview: false, undoOf: 'execution', undoId: { __rl: true, mode: 'id', value: '={{ $execution.id }}' } },
				},
			],
		},
		{ resource: 'account', links: [{ name: 'get', resource: 'account', operation: 'get' }] },
		{
			resource: 'apiRequest',
			links: [
				{
					name: 'send',
					resource: 'apiRequest',
					operation: 'send',
					parameters: { method: 'GET', path: '/v1/users/me' },
				},
			],
		},
	];
}
