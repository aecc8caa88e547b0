import { Webhook } from 'standardwebhooks';

import { forgetStates } from '../../nodes/CrmPlatform/trigger/storedState';
import type { EditedAnswer } from './harness/altered-service';
import { useAlteredService } from './harness/altered-trigger';
import { until } from '../until.ts';
import { came, happen, replaceSecret, trigger } from './harness/watched-trigger';

const service = useAlteredService();
afterEach(() => void jest.restoreAllMocks());

const renewals = () => service.passed.filter((request) => request.includes('rotate-secret'));

/** Shows this hint, and hides that deliveries fail. */
const showing =
	(hint: string, isShownOnce = false) =>
	({ method, body }: EditedAnswer): void => {
		if (!('secret_hint' in body)) return;
		if (!isShownOnce || method === 'GET') body.secret_hint = hint;
		delete body.failing_since;
	};

test.each(['xxxx', 'XXXXXXXXk', 'whsec_MfKQ', '••••hidden', 'sha256:00ff'])(
	'a hint that does not match the end of the secret (%s) is no reason to replace it; failing deliveries are, and the user is warned once',
	async (hint) => {
		service.edit(showing(hint));
		await trigger.activate();
		for (let i = 0; i < 3; i++) await trigger.look();
		expect(renewals()).toEqual([]);
		expect(trigger.warnings).toEqual([]);
		await replaceSecret();
		await happen('refused');
		await until(() => trigger.answers.includes(401));
		await trigger.look();
		expect(trigger.reported).toEqual([expect.stringContaining('has replaced the secret')]);
		await happen('after');
		await came('after', 'refused');
		for (let i = 0; i < 3; i++) await trigger.look();
		expect(renewals()).toHaveLength(1);
		expect(trigger.reported).toHaveLength(1);
	},
);

test('a hint that is masked when it is read, but not when it is created, replaces the secret at most once', async () => {
	service.edit(showing('xxxx', true));
	await trigger.activate();
	for (let i = 0; i < 4; i++) await trigger.look();
	expect(renewals().length).toBeLessThanOrEqual(1);
	await happen('Moreno');
	await came('Moreno');
});

test('a hint that matches another part of the secret shows that it was replaced', async () => {
	let secretHint = 'AbCd';
	service.edit(({ body }) => {
		if ('secret_hint' in body) body.secret_hint = secretHint;
	});
	await trigger.activate();
	await trigger.look();
	expect(renewals()).toEqual([]);
	secretHint = 'EfGh';
	await trigger.look();
	expect(renewals()).toHaveLength(1);
});

test('if the CRM shows no hint, the user is told once what to do', async () => {
	service.edit((answer) => {
		showing('xxxx')(answer);
		if (answer.path.includes('/deliveries')) answer.status = 403;
	});
	await trigger.activate();
	const now = Date.now();
	const post = async (minutes: number, type = 'contact.created', secret = `whsec_${'MfKQ'.repeat(8)}`) => {
		const at = new Date(now + minutes * 60_000);
		jest.spyOn(Date, 'now').mockReturnValue(at.getTime());
		const id = `evt_${minutes}`;
		const data = { object: { id: 'con_1', last_name: id }, previous: null, changed: [] };
		const body = JSON.stringify({ id, type, timestamp: at.toISOString(), sequence: 1, data });
		return await trigger.post(body, {
			'content-type': 'application/json',
			'webhook-id': id,
			'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
			'webhook-signature': new Webhook(secret).sign(id, at, body),
		});
	};
	// Events to which the trigger has not subscribed do not indicate a wrong secret.
	for (const minutes of [0, 30]) expect(await post(minutes, 'deal.won')).toMatchObject({ status: 401 });
	for (const minutes of [30, 35, 49]) expect(await post(minutes)).toMatchObject({ status: 401 });
	expect(trigger.reported).toEqual([]);
	expect(await post(51)).toMatchObject({ status: 500 });
	for (const minutes of [52, 90, 900]) expect(await post(minutes)).toMatchObject({ status: 401 });
	expect(trigger.reported).toEqual([expect.stringContaining('Deliveries are refused')]);
	jest.restoreAllMocks();
	// The message says to publish the workflow again.
	await trigger.activate();
	await happen('Moreno');
	await came('Moreno');
});

test('another process of n8n, which knows only the stored state, has the replaced secret', async () => {
	await trigger.activate();
	await replaceSecret();
	await trigger.look();
	forgetStates();
	await happen('Moreno');
	await came('Moreno');
	expect(trigger.answers).toEqual([200]);
});

test('a delivery signed with the secret from before a publish is accepted', async () => {
	await trigger.activate();
	const oldStaticData = structuredClone(trigger.staticData);
	service.edit(showing('xxxx'));
	await trigger.activate();
	expect(renewals()).toHaveLength(1);
	// Another process has read the workflow just before the new secret was stored.
	const newest = trigger.staticData;
	forgetStates();
	trigger.staticData = oldStaticData;
	await happen('Moreno');
	await came('Moreno');
	trigger.staticData = newest;
});
