import { scopes } from '../../../sandbox/domain/access/scopes.ts';
import { eventTypeOf } from '../../../sandbox/domain/events/event-types.ts';
import { resources } from '../../../sandbox/core/schemas/index.ts';
import type { Resource } from '../../../sandbox/core/schemas/resource.ts';
import { deliveryStatuses } from '../../../sandbox/core/schemas/webhook-deliveries.ts';
import { until } from '../../support/until.ts';
import { type TokenSandbox, tokenSandbox } from '../harness/access-tokens.ts';
import { createFixtures, type Fixtures, namesOfRecordTypes, resourceOf, valuesOf } from '../harness/record-writes.ts';
import type { Call, Json } from '../harness/in-process.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { type Beginner, type End, endRights, mayStill, newBeginner, standings } from '../harness/ending-rights.ts';

const everyScope = [...scopes.keys()];

let sandbox: TokenSandbox;
let receiver: Receiver;
let fixtures: Fixtures;
/** Every request that was sent: the path, and the record of the event. */
const got: Array<{ path: string; id: string }> = [];
beforeAll(async () => {
	receiver = await startReceiver();
	receiver.answer = (request, response) => {
		const { data } = receiver.received.at(-1)!.event;
		got.push({ path: request.url!, id: data.object.id });
		response.writeHead(500).end();
	};
	sandbox = tokenSandbox({ allowPrivateWebhooks: true, faults: true });
	fixtures = await createFixtures(sandbox);
});
afterAll(async () => {
	sandbox.store.close();
	await receiver.close();
});

/** What happens between the first attempt and the next. */
type Change = End | 'change of owner';

const isKnownBySome = ({ visibility }: Resource): boolean => typeof visibility === 'object';

/** A record that `who` sees through its owner, and the request that takes it from them. */
async function ownRecord(resource: Resource, who: Beginner) {
	const { post, patch } = sandbox;
	const owner = who.caller.type === 'user' ? who.caller.id : null;
	const values = valuesOf(resource, { ...fixtures, contactId: (await post('/v1/contacts', { last_name: 'x' })).body.id });
	const { visibility } = resource;
	if (typeof visibility !== 'object') {
		return { id: (await post(`/v1/${resource.name}`, values)).body.id as string, take: async () => undefined };
	}
	if ('through' in visibility) {
		const contact = (await post('/v1/contacts', { last_name: 'x', owner_id: owner })).body;
		const { body } = await post(`/v1/${resource.name}`, { ...values, contact_id: contact.id });
		return { id: body.id as string, take: () => patch(`/v1/contacts/${contact.id}`, { owner_id: sandbox.admin }) };
	}
	const field = visibility.owner;
	const { body } = await post(`/v1/${resource.name}`, { ...values, [field]: owner });
	return {
		id: body.id as string,
		take: () => patch(`/v1/${resource.name}/${body.id}`, { [field]: sandbox.admin }),
	};
}

const mayReceive = (resource: Resource, who: Beginner, change: Change): boolean => {
	if (change === 'change of owner') return who.role !== 'member' || !isKnownBySome(resource);
	return mayStill(who, change, 'read', resource.name);
};

let cells = 0;

const idIn = (data: string): string => JSON.parse(data).object.id;

/** What is wrong in a cell of the table, if anything. */
async function flaw(resource: Resource, who: Beginner, change: Change, isByHand: boolean) {
	const { store, post } = sandbox;
	const prefix = eventTypeOf(resource, '');
	const [ownPath, witnessPath] = [`/own/${++cells}`, `/all/${cells}`];
	const subscribe = async (call: Call, path: string): Promise<string> => {
		const hook = { url: new URL(path, receiver.url).href, events: [`${prefix}created`] };
		const { body, status } = await call('POST', '/v1/webhooks', hook);
		expect([status, body]).toEqual([201, body]);
		return body.id;
	};
	const id = await subscribe(who.call, ownPath);
	// An account's own subscription shows when the dispatcher has looked at all that is due.
	const witness = await subscribe(sandbox.send, witnessPath);
	const record = await ownRecord(resource, who);
	const requestCount = (path: string) => got.filter((request) => request.path === path && request.id === record.id).length;
	// Other records may be made beside it, so it is found by its event.
	const deliveryTo = async (hook: string) =>
		store.deliveries.list(hook, deliveryStatuses, undefined, 10).deliveries
			.find(({ sequence }) => idIn(store.events.find(sequence).data) === record.id);
	await until(async () => {
		const both = await Promise.all([id, witness].map(deliveryTo));
		return both.every((entry) => entry?.attempts.length === 1);
	});
	const first = await deliveryTo(id);

	if (change === 'change of owner') await record.take();
	else await endRights(sandbox, who, change);
	if (isByHand) await who.call('POST', `/v1/webhooks/${id}/deliveries/${first!.id}/retry`);
	await post('/_sandbox/clock', { advance: 6 });
	await until(() => requestCount(witnessPath) === 2);
	const isAllowed = mayReceive(resource, who, change);
	await until(() => requestCount(ownPath) === 2 || !isAllowed);
	const delivery = store.deliveries.find(id, first!.id);
	const isTold = delivery?.status !== 'failed' || delivery.attempts.at(-1)!.error!.startsWith('Not sent.');
	for (const hook of [id, witness]) {
		const table = store.table('webhooks')!;
		const webhook = table.find(hook);
		if (webhook) table.save({ ...webhook, status: 'disabled' });
	}
	if (requestCount(ownPath) === (isAllowed ? 2 : 1) && isTold) return undefined;
	return `${prefix} to ${who.role}, ${change}, ${isByHand ? 'by hand' : 'by itself'}: ${requestCount(ownPath)} attempts`;
}

async function flaws(resource: Resource): Promise<Json[]> {
	const found: Json[] = [];
	const changes: Array<[Beginner['role'], Change]> = [
		...standings,
		...(['key', 'admin', 'member'] as const).map((role): [typeof role, Change] => [role, 'change of owner']),
	];
	const placeOfType = resources.findIndex(({ name }) => name === resource.name);
	for (const [i, [role, change]] of changes.entries()) {
		// A caller without access cannot request a retry. Others do so for every second record type.
		const isKnown = change !== 'revocation' && change !== 'deactivation';
		const who = await newBeginner(sandbox, role, everyScope);
		const problem = await flaw(resource, who, change, isKnown && (placeOfType + 1 + i) % 2 === 0);
		if (problem !== undefined) found.push(problem);
	}
	return found;
}

test.each(namesOfRecordTypes)('events of %s are no longer sent to users who may not see them', async (recordType) => {
	expect(await flaws(resourceOf(recordType, fixtures))).toEqual([]);
});
