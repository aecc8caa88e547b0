import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import type { Link } from './chain.ts';
import { type Lifecycle, idFrom } from './lifecycle.ts';
import { byId, mapped } from '../../integration/harness/parameters.ts';
import { postJob } from './sandbox-calls.ts';

/** Starts a job of the maximum size, so that it cannot end before it is canceled. */
async function startLongJob(): Promise<IDataObject[]> {
	const lines = Array.from({ length: 100_000 }, () => ({ name: randomUUID() }));
	return [{ id: (await postJob('resource=tags&operation=create', lines)).id }];
}

/** A link whose name is its operation. */
const link = (resource: string, operation: string, parameters: IDataObject = {}): Link => ({
	name: operation, resource, operation, parameters,
});

const oneOfMany = { returnAll: false, limit: 1, simplify: false };

function webhookLinks(): Link[] {
	const webhook = { recordId: idFrom('create') };
	return [
		link('webhook', 'create', { fields: mapped({ url: 'http://127.0.0.1:9/hook', events: 'contact.created' }) }),
		link('webhook', 'get', { ...webhook, simplify: false }),
		link('webhook', 'update', { ...webhook, fields: mapped({ description: 'B' }) }),
		link('webhook', 'getMany', { ...oneOfMany, simplify: true }),
		link('webhook', 'rotateSecret', webhook),
		link('webhook', 'test', webhook),
		...['getMany', 'get', 'retry'].map((operation) => ({
			...link('webhookDelivery', operation, {
				webhookId: idFrom('create'),
				recordId: idFrom('delivery: getMany'),
				...oneOfMany,
			}),
			name: `delivery: ${operation}`,
		})),
		link('webhook', 'recover', { ...webhook, fields: mapped({ since: new Date().toISOString() }) }),
		link('webhook', 'delete', webhook),
	];
}

/** Lifecycles of everything that is not an ordinary record. */
export function adminLifecycles(): Lifecycle[] {
	return [
		{
			resource: 'job',
			links: [
				link('job', 'cancel', { recordId: byId('={{ $json.id }}') }),
				link('job', 'get', { recordId: idFrom('cancel'), simplify: false }),
				link('job', 'getMany', oneOfMany),
			],
			input: startLongJob,
		},
		{ resource: 'webhook', links: webhookLinks() },
		{
			resource: 'event',
			links: [link('event', 'getMany', oneOfMany), link('event', 'get', { recordId: idFrom('getMany'), simplify: false })],
		},
		{
			resource: 'change',
			links: [
				link('company', 'create', { fields: mapped({ name: randomUUID() }) }),
				link('change', 'undo', { preview: false, undoOf: 'execution', undoId: byId('={{ $execution.id }}') }),
			],
		},
		{ resource: 'account', links: [link('account', 'get')] },
		{ resource: 'apiRequest', links: [link('apiRequest', 'send', { method: 'GET', path: '/v1/users/me' })] },
	];
}
