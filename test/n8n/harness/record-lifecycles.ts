import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { type ChainStep, type Lifecycle, lifecycleOf, idFrom } from './lifecycle.ts';
import { byId, mapped } from '../../support/parameters.ts';
import { postJob } from './sandbox-calls.ts';

const later = '2099-01-01T10:00:00.000Z';
const mail = { channel: 'email', from: 'we@example.com', to: 'you@example.com', subject: 'A', text: 'A' };

const dealActions = (stageId: string) => [
	{ operation: 'moveToStage', parameters: { stageId: byId(stageId) } },
	{ operation: 'win' },
	{ operation: 'reopen' },
	{ operation: 'lose', parameters: { fields: mapped({ lost_reason: 'Price' }) } },
];

const messageActions = [
	{ operation: 'count' },
	{ operation: 'reschedule', parameters: { fields: mapped({ scheduled_at: later }) } },
	{ operation: 'cancel' },
	{ operation: 'send', parameters: { fields: mapped(mail) } },
	{ operation: 'logIncoming', parameters: { fields: mapped(mail) } },
	{ operation: 'schedule', name: 'another', parameters: { fields: mapped({ ...mail, scheduled_at: later }) } },
	{ operation: 'sendNow', parameters: { recordId: idFrom('another') } },
];

const ticketActions = (userId: string) => [
	{ operation: 'assign', parameters: { assigneeId: byId(userId) } },
	{ operation: 'changeStatus', parameters: { fields: mapped({ status: 'pending' }) } },
	{ operation: 'solve' },
	{ operation: 'reopen' },
	{ operation: 'solve', name: 'solve again' },
	{ operation: 'close' },
];

/** Lifecycles of what administrators set up for records. */
const setupLifecycles = (unique: string): Lifecycle[] => [
	lifecycleOf('customField', {
		values: { resource: 'deals', label: 'A', type: 'text' },
		changedValues: { label: 'B' },
		match: { key: `k${unique.slice(0, 8)}` },
	}),
	lifecycleOf('customObject', {
		values: { label_singular: 'A', label_plural: 'A', primary_field: 'name' },
		changedValues: { label_plural: 'B' },
		match: { key: `o${unique.slice(0, 8)}` },
	}),
	lifecycleOf('pipeline', {
		values: { stages: JSON.stringify(['open', 'won', 'lost'].map((kind) => ({ name: kind, kind }))) },
		changedValues: { currency: 'EUR' },
		match: { name: unique },
	}),
	lifecycleOf('tag', { values: { color: '#ff0000' }, changedValues: { color: '#00ff00' }, match: { name: unique } }),
	lifecycleOf('user', {
		values: { first_name: 'A' },
		changedValues: { first_name: 'B' },
		match: { email: `${unique}@example.com` },
		ownOperations: [{ operation: 'getCurrent' }],
	}),
];

/** Records of the sandbox. */
interface Found {
	contactId: string;
	userId: string;
	stageId: string;
	objectKey: string;
	/** Records of these types on which a note hangs. */
	withNote: Record<'contact' | 'company' | 'deal' | 'ticket', string>;
}

/** What is read about records, and written from whole files. */
const lookingLifecycles = ({ contactId, withNote }: Found): Lifecycle[] => [
	{
		resource: 'timeline',
		steps: Object.entries(withNote).map(([resource, id]) => ({
			...step(resource, 'getTimeline', { recordId: byId(id), returnAll: false, limit: 1 }), name: resource,
		})),
	},
	{ resource: 'person', steps: ['export', 'erase'].map((operation) => step('person', operation, { recordId: byId(contactId) })) },
	{
		resource: 'file',
		steps: [step('file', 'exportFile', { kind: 'contact' }), step('file', 'moveIn', { sourceName: 'other' })],
	},
];

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
function adminLifecycles(): Lifecycle[] {
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

/** A lifecycle for each record type that has one; together they use every operation. */
export function recordLifecycles(found: Found): Lifecycle[] {
	const unique = randomUUID();
	const match = { external_id: unique };
	/** A record that is tagged, and whose field becomes B. */
	const tagged = (resource: string, field: string, more: Partial<Parameters<typeof lifecycleOf>[1]> = {}) =>
		lifecycleOf(resource, { changedValues: { [field]: 'B' }, match, tagged: true, ...more, values: { ...more.values, [field]: 'A' } });
	const links = JSON.stringify([{ resource: 'contacts', id: found.contactId }]);
	return [
		tagged('activity', 'subject', { values: { type: 'call', occurred_at: later } }),
		tagged('company', 'name'),
		tagged('contact', 'last_name'),
		lifecycleOf('customObjectRecord', {
			values: { custom_fields: '{"name":"A"}' },
			changedValues: { custom_fields: '{"name":"B"}' },
			match,
			tagged: true,
			common: { objectKey: byId(found.objectKey) },
		}),
		tagged('deal', 'title', { ownOperations: dealActions(found.stageId) }),
		lifecycleOf('message', {
			values: { ...mail, scheduled_at: later },
			changedValues: { scheduled_at: '2099-01-02T10:00:00.000Z' },
			match,
			createOperation: 'schedule',
			ownOperations: messageActions,
		}),
		tagged('note', 'body', { values: { links } }),
		tagged('task', 'title', { ownOperations: [{ operation: 'complete' }, { operation: 'reopen' }] }),
		tagged('ticket', 'subject', { ownOperations: ticketActions(found.userId) }),
		...lookingLifecycles(found),
		...setupLifecycles(unique),
		...adminLifecycles(),
	];
}
