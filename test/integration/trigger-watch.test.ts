import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { IDataObject } from 'n8n-workflow';

import { startEditing, type EditedAnswer } from './edited-answers';
import { useSandbox } from './sandbox';
import { startTrigger, until, type TestTrigger } from './trigger';

const sandbox = useSandbox({ contacts: 0 });
let trigger: TestTrigger;
beforeEach(async () => {
	trigger = await startTrigger({ credential: sandbox.credential, parameters: { events: ['contact.created'] } });
});
afterEach(async () => {
	await sandbox.clear();
	await trigger.deactivate().catch(() => undefined);
	await trigger.close();
	for (const { id } of await subscriptions()) await sandbox.call('DELETE', `/v1/webhooks/${String(id)}`);
});

const subscriptions = async () => (await sandbox.call('GET', '/v1/webhooks')).body.data as IDataObject[];
const own = async (): Promise<IDataObject> => {
	const all = await subscriptions();
	expect(all).toHaveLength(1);
	return all[0]!;
};
const change = async (method: string, body?: object) =>
	await sandbox.call(method, `/v1/webhooks/${String((await own()).id)}`, body);
const happen = async (...names: string[]) => {
	for (const last_name of names) await sandbox.call('POST', '/v1/contacts', { last_name });
};
const names = () => trigger.started.map(({ data }) => String(((data as IDataObject).object as IDataObject).last_name)).sort();
const came = async (...expected: string[]) => {
	await until(() => trigger.started.length >= expected.length);
	expect(names()).toEqual(expected.sort());
};

test('a subscription that somebody deletes in the CRM is made again, and what came meanwhile comes', async () => {
	await trigger.activate();
	await happen('before');
	await came('before');
	const { id } = await own();
	await change('DELETE');
	await happen('meanwhile');
	await trigger.look();
	expect((await own()).id).not.toBe(id);
	await happen('after');
	await came('after', 'before', 'meanwhile');
	expect(trigger.warnings.join()).toContain(`The webhook ${String(id)} was deleted in the CRM Platform`);
	expect(trigger.reported).toEqual([]);
	// What n8n has stored has the new secret.
	await trigger.restart();
	await happen('later');
	await came('after', 'before', 'later', 'meanwhile');
});

test('one that is changed there is changed back, and a rotated secret is replaced', async () => {
	await trigger.activate();
	for (const body of [{ url: 'https://elsewhere.example/hook' }, { events: ['deal.won'] }]) {
		await change('PATCH', body);
		await trigger.look();
		expect(await own()).toMatchObject({ url: trigger.url, events: ['contact.created'] });
	}
	const path = `/v1/webhooks/${String((await own()).id)}/rotate-secret`;
	const { body } = await sandbox.call('POST', path);
	await trigger.look();
	expect((await own()).secret_hint).not.toBe(body.secret_hint);
	await happen('Moreno');
	await came('Moreno');
});

describe('An address that somebody changes to one that accepts events', () => {
	let elsewhere: Server;
	let accepted = 0;
	beforeEach(async () => {
		accepted = 0;
		elsewhere = createServer((_, response) => {
			accepted += 1;
			response.writeHead(200).end();
		}).listen(0, '127.0.0.1');
		await once(elsewhere, 'listening');
		await trigger.activate();
		await change('PATCH', { url: `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/` });
		await happen('meanwhile');
		await until(() => accepted === 1);
	});
	afterEach(() => {
		elsewhere.closeAllConnections();
		elsewhere.close();
	});

	test('loses nothing: at the next look, what went there comes', async () => {
		await trigger.look();
		await happen('after');
		await came('after', 'meanwhile');
		expect(trigger.warnings.join()).toContain('was changed in the CRM Platform');
	});

	test('loses nothing when the workflow is published', async () => {
		await trigger.activate();
		await came('meanwhile');
	});

	test('loses nothing when the workflow is unpublished and published', async () => {
		await sandbox.call('POST', '/_sandbox/clock', { advance: 120 });
		await trigger.deactivate();
		await trigger.activate();
		await came('meanwhile');
	});

	test('loses nothing when it is paused, and resumed after a look', async () => {
		await change('PATCH', { status: 'paused' });
		await trigger.look();
		expect(trigger.reported).toEqual([expect.stringContaining('paused in the CRM Platform')]);
		await change('PATCH', { status: 'active' });
		await trigger.look();
		await came('meanwhile');
	});
});

test('one that is paused there is told of once, and resumed, what it has missed comes', async () => {
	await trigger.activate();
	await change('PATCH', { status: 'paused' });
	await happen('meanwhile');
	await trigger.look();
	await trigger.look();
	expect(trigger.reported).toEqual([expect.stringContaining('paused in the CRM Platform')]);
	await change('PATCH', { status: 'active' });
	await trigger.look();
	await came('meanwhile');
});

test('one that the service has disabled is enabled, and what it has missed comes', async () => {
	await trigger.activate();
	trigger.fails = 410;
	await happen('gone');
	await until(async () => (await own()).status === 'disabled');
	trigger.fails = undefined;
	await happen('meanwhile');
	await trigger.look();
	expect(await own()).toMatchObject({ status: 'active' });
	await came('gone', 'meanwhile');
});

test('without recovery, the user is told that events may be missing', async () => {
	trigger.parameters = { ...trigger.parameters, recover: false };
	await trigger.activate();
	await change('DELETE');
	await trigger.look();
	expect(trigger.reported).toEqual([expect.stringContaining('Events may be missing, as Recover Missed Events is off')]);
	expect(await own()).toMatchObject({ status: 'active' });
});

test('n8n that starts at another address has the service deliver there', async () => {
	await trigger.activate();
	await trigger.restart('http://127.0.0.1:9');
	await trigger.look();
	expect(await own()).toMatchObject({ url: expect.stringContaining('http://127.0.0.1:9/') });
});

test('n8n that starts while the service is away keeps its trigger, which recovers when the service is back', async () => {
	await trigger.activate();
	await change('DELETE');
	await happen('meanwhile');
	await sandbox.faults({ path: '/v1/webhooks', status: 403 });
	await trigger.restart();
	for (let i = 0; i < 6; i++) await trigger.look();
	expect(trigger.reported).toHaveLength(1);
	await sandbox.clear();
	await trigger.look();
	await came('meanwhile');
});

test('after an unpublish nobody subscribes again', async () => {
	await trigger.activate();
	await change('DELETE');
	const looking = trigger.look();
	await trigger.deactivate();
	await looking;
	expect(await subscriptions()).toEqual([]);
});

test('a publish that has failed subscribes to nothing later', async () => {
	await trigger.activate();
	await trigger.deactivate();
	await sandbox.faults({ method: 'POST', path: '/v1/webhooks', status: 403 });
	await expect(trigger.activate()).rejects.toThrow();
	await trigger.deactivate();
	await sandbox.clear();
	await trigger.restart();
	expect(await subscriptions()).toHaveLength(1);
});

describe('Another service', () => {
	let edit: (answer: EditedAnswer) => void = () => undefined;
	let service: Awaited<ReturnType<typeof startEditing>>;
	beforeEach(async () => {
		await trigger.close();
		edit = () => undefined;
		service = await startEditing(sandbox.url, (answer) => edit(answer));
		const credential = { ...sandbox.credential, baseUrl: service.url };
		trigger = await startTrigger({ credential, parameters: { events: ['contact.created'] } });
	});
	afterEach(async () => {
		await trigger.deactivate();
		await trigger.close();
		await service.close();
		trigger = await startTrigger({ credential: sandbox.credential, parameters: {} });
	});

	const isCreate = ({ method, path }: EditedAnswer) => method === 'POST' && path === '/v1/webhooks';
	const withoutRotation = (answer: EditedAnswer) => {
		const { paths } = answer.body as { paths?: Record<string, unknown> };
		for (const path of Object.keys(paths ?? {})) if (path.endsWith('rotate-secret')) delete paths![path];
	};

	test.each(['whsec_************', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])(
		'secrets in lists (%s) are not believed: after a lost answer, deliveries can be verified',
		async (shown) => {
			let lost = 0;
			edit = (answer) => {
				if (isCreate(answer) && lost++ < 8) answer.isLost = true;
				if (answer.method !== 'GET' || !answer.path.startsWith('/v1/webhooks')) return;
				const records = (answer.body.data as IDataObject[] | undefined) ?? [answer.body];
				for (const record of records) if ('secret_hint' in record) record.secret = shown;
			};
			await trigger.activate().catch(() => undefined);
			lost = 100;
			await trigger.activate();
			await happen('Moreno');
			await came('Moreno');
			expect(trigger.answers).toEqual([200]);
		},
		60_000,
	);

	test('without rotation of secrets, a subscription whose secret is unknown is made anew', async () => {
		edit = withoutRotation;
		const body = { url: trigger.url, events: ['contact.created'] };
		const { body: made } = await sandbox.call('POST', '/v1/webhooks', body);
		await trigger.activate();
		expect((await own()).id).not.toBe(made.id);
		await happen('Moreno');
		await came('Moreno');
	});

	test('a service that sorts events, or spells the address in another way, has nothing to put right', async () => {
		trigger.parameters = { events: ['contact.updated', 'contact.created'] };
		edit = ({ body }) => {
			if (!Array.isArray(body.events)) return;
			body.events.sort();
			body.url = String(body.url).replace('http://', 'HTTP://');
		};
		await trigger.activate();
		await trigger.look();
		expect(service.requests.filter((request) => request.startsWith('PATCH'))).toEqual([]);
		expect(trigger.warnings).toEqual([]);
	});

	test.each([undefined, null, '', '••••', '----'])(
		'a secret that another client has replaced is replaced, and told of, where the service shows %j of it',
		async (shown) => {
			edit = ({ body }) => {
				if ('secret_hint' in body) body.secret_hint = shown;
			};
			await trigger.activate();
			await trigger.look();
			expect(service.requests.filter((request) => request.includes('rotate-secret'))).toEqual([]);
			const path = `/v1/webhooks/${String((await own()).id)}/rotate-secret`;
			// Twice, as the one before signs as well.
			for (let i = 0; i < 2; i++) await sandbox.call('POST', path);
			await happen('refused');
			await until(() => trigger.answers.includes(401));
			await until(async () => typeof (await own()).failing_since === 'string');
			await trigger.look();
			expect(trigger.reported).toEqual([expect.stringContaining('replaced it by a new one')]);
			await happen('after');
			await came('after', 'refused');
		},
	);

	test('what has failed while n8n was down is recovered at the first look after its start', async () => {
		await trigger.activate();
		trigger.fails = 503;
		await happen('meanwhile');
		await until(async () => typeof (await own()).failing_since === 'string');
		trigger.fails = undefined;
		await trigger.restart();
		service.requests.splice(0);
		await trigger.look();
		expect(service.requests.filter((request) => request.endsWith('/recover'))).toHaveLength(1);
		expect(trigger.wait).toBe(60_000);
		await came('meanwhile');
	});

	test('an unpublish with a failed delivery asks for no more again than the minute before that event', async () => {
		await trigger.activate();
		await happen('old');
		await came('old');
		await sandbox.call('POST', '/_sandbox/clock', { advance: 100 });
		trigger.fails = 503;
		await happen('failed');
		await until(async () => typeof (await own()).failing_since === 'string');
		edit = (answer) => void (answer.date = new Date(Date.now() + 600_000).toUTCString());
		await trigger.deactivate();
		edit = () => undefined;
		trigger.fails = undefined;
		await trigger.activate();
		await came('failed', 'old');
		const path = `/v1/webhooks/${String((await own()).id)}/deliveries`;
		expect(((await sandbox.call('GET', path)).body.data as unknown[])).toHaveLength(1);
	});

	test('a look at a subscription that is well takes two small requests', async () => {
		await trigger.activate();
		await trigger.look();
		service.requests.splice(0);
		await trigger.look();
		expect(service.requests).toHaveLength(2);
	});

	test.each([0, 1])('a list that is some seconds behind when the workflow is unpublished loses nothing (total %d)', async (total) => {
		await trigger.activate();
		trigger.fails = 503;
		await happen('late');
		await until(() => trigger.answers.includes(503));
		// A replica does not know of the delivery yet.
		edit = (answer) => {
			answer.date = new Date(Date.now() + 10_000).toUTCString();
			if (answer.path.includes('/deliveries')) answer.body = { data: [], next_cursor: null, total };
		};
		await trigger.deactivate();
		edit = () => undefined;
		trigger.fails = undefined;
		await trigger.activate();
		await came('late');
	});

});
