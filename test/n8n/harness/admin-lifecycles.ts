import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import type { ChainStep } from './chain.ts';
import { type Lifecycle, idFrom } from './lifecycle.ts';
import { byId, mapped } from '../../support/parameters.ts';
import { postJob } from './sandbox-calls.ts';

/** Starts a job of the maximum size, so that it cannot end before it is canceled. */
async function startLongJob(): Promise<IDataObject[]> {
	const lines = Array.from({ length: 100_000 }, () => ({ name: randomUUID() }));
	return [{ id: (await postJob('resource=tags&operation=create', lines)).id }];
}

/** A step whose name is its operation. */
const step = (resource: string, operation: string, parameters: IDataObject = {}): ChainStep => ({
	name: operation, resource, operation, parameters,
});

const oneOfMany = { returnAll: false, limit: 1, simplify: false };

function webhookSteps(): ChainStep[] {
	const webhook = { recordId: idFrom('create') };
	return [
		step('webhook', 'create', { fields: mapped({ url: 'http://127.0.0.1:9/hook', events: 'contact.created' }) }),
		step('webhook', 'get', { ...webhook, simplify: false }),
		step('webhook', 'update', { ...webhook, fields: mapped({ description: 'B' }), simplify: false }),
		step('webhook', 'getMany', { ...oneOfMany, simplify: true }),
		step('webhook', 'rotateSecret', webhook),
		step('webhook', 'test', webhook),
		...['getMany', 'get', 'retry'].map((operation) => ({
			...step('webhookDelivery', operation, {
				webhookId: idFrom('create'),
				recordId: idFrom('delivery: getMany'),
				...oneOfMany,
			}),
			name: `delivery: ${operation}`,
		})),
		step('webhook', 'recover', { ...webhook, fields: mapped({ since: new Date().toISOString() }) }),
		step('webhook', 'delete', webhook),
	];
}

/** Lifecycles of everything that is not an ordinary record. */
export function adminLifecycles(): Lifecycle[] {
	return [
		{
			resource: 'job',
			steps: [
				step('job', 'cancel', { recordId: byId('={{ $json.id }}') }),
				step('job', 'get', { recordId: idFrom('cancel'), simplify: false }),
				step('job', 'getMany', oneOfMany),
			],
			input: startLongJob,
		},
		{ resource: 'webhook', steps: webhookSteps() },
		{
			resource: 'event',
			steps: [step('event', 'getMany', oneOfMany), step('event', 'get', { recordId: idFrom('getMany'), simplify: false })],
		},
		{
			resource: 'change',
			steps: [
				step('company', 'create', { fields: mapped({ name: randomUUID() }) }),
				step('change', 'undo', { preview: false, undoOf: 'execution', undoId: byId('={{ $execution.id }}') }),
			],
		},
		{ resource: 'account', steps: [step('account', 'get')] },
		{ resource: 'apiRequest', steps: [step('apiRequest', 'send', { method: 'GET', path: '/v1/users/me' })] },
	];
}
