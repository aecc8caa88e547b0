import type { IDataObject } from 'n8n-workflow';
import { Webhook } from 'standardwebhooks';

import { forgetStates } from '../../../nodes/CrmPlatform/trigger/storedState';
import { useTriggers } from '../../support/open-triggers';
import { useSandbox } from '../../support/sandbox';
import type { TestTrigger } from '../../support/webhook-trigger';

const sandbox = useSandbox({ contacts: 0 });
const start = useTriggers(sandbox);

const names = ({ started }: TestTrigger) =>
	started.map(({ data }) => ((data as IDataObject).object as IDataObject).last_name);

/** The secret as n8n keeps it. */
const secretOf = ({ staticData }: TestTrigger): string => {
	const { global } = staticData as { global: Record<string, { state: { secret: string } }> };
	return Object.values(global)[0]!.state.secret;
};

const event = (id: string, more: IDataObject = {}) => ({
	id,
	type: 'contact.created',
	timestamp: new Date().toISOString(),
	sequence: 1,
	data: { object: { id: 'con_1', last_name: id }, previous: null, changed: [] },
	...more,
});

/** A delivery as the service would make it, or anyone who has the secret. */
function sign(secret: string, body: string) {
	const [at, id] = [new Date(), 'evt_forged'];
	return {
		'content-type': 'application/json',
		'webhook-id': id,
		'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
		'webhook-signature': new Webhook(secret).sign(id, at, body),
	};
}

test('a sender without a valid signature gets 401, and nothing starts', async () => {
	const trigger = await start({ events: ['contact.created'] });
	const other = await start({ events: ['contact.created'] }, 'workflow-2');
	const body = JSON.stringify(event('evt_forged'));
	const good = sign(secretOf(trigger), body);
	const { 'webhook-signature': _, ...unsigned } = good;
	const refused = [trigger.post(body, unsigned), trigger.post(body, sign(secretOf(other), body)), trigger.post(`${body} `, good)];
	for (const response of await Promise.all(refused)) expect(response.status).toBe(401);
	expect(trigger.started).toEqual([]);
	expect(trigger.warnings.join()).toMatch(/not signed/);
	expect((await trigger.post(body, good)).status).toBe(202);
	expect(names(trigger)).toEqual(['evt_forged']);
});

test('a trigger without a secret accepts nothing', async () => {
	const trigger = await start({ events: ['contact.created'] });
	const body = JSON.stringify(event('evt_forged'));
	const headers = sign(secretOf(trigger), body);
	const storedStaticData = trigger.staticData;
	trigger.staticData = {};
	forgetStates();
	expect((await trigger.post(body, headers)).status).toBe(401);
	trigger.staticData = storedStaticData;
});

test.each(['', '[]', 'null', '{"id":"evt_1"}', '{"id":1,"type":2}', 'contact'])(
	'a signed body that is not an event is answered with 400: %j',
	async (body) => {
		const trigger = await start({ events: ['contact.created'] });
		const { status } = await trigger.post(body, sign(secretOf(trigger), body));
		expect(status).toBe(400);
		expect(trigger.started).toEqual([]);
	},
);
