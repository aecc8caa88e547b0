import type { IDataObject } from 'n8n-workflow';

import type { EditedAnswer } from '../../support/altered-service';
import { useAlteredService } from '../../support/altered-trigger';
import { shortenWaits } from '../../support/short-waits';
import { until } from '../../support/until.ts';
import { came, deliveries, deliveriesFail, happen, onlySubscription, sandbox, trigger } from '../../support/watched-trigger';

shortenWaits();

describe('Another service', () => {
	const service = useAlteredService();

	const isCreate = ({ method, path }: EditedAnswer) => method === 'POST' && path === '/v1/webhooks';
	const withoutRotation = (answer: EditedAnswer) => {
		const { paths } = answer.body as { paths?: Record<string, unknown> };
		for (const path of Object.keys(paths ?? {})) if (path.endsWith('rotate-secret')) delete paths![path];
	};

	test.each(['whsec_************', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])(
		'secrets in lists (%s) are not trusted: after a lost response, deliveries can be verified',
		async (listedSecret) => {
			let lost = 0;
			service.edit((answer) => {
				if (isCreate(answer) && lost++ < 8) answer.isLost = true;
				if (answer.method !== 'GET' || !answer.path.startsWith('/v1/webhooks')) return;
				const records = (answer.body.data as IDataObject[] | undefined) ?? [answer.body];
				for (const record of records) if ('secret_hint' in record) record.secret = listedSecret;
			});
			await trigger.activate().catch(() => undefined);
			lost = 100;
			await trigger.activate();
			await happen('Moreno');
			await came('Moreno');
			expect(trigger.answers).toEqual([200]);
		},
	);

	test('without rotation of secrets, a subscription whose secret is unknown is created again', async () => {
		service.edit(withoutRotation);
		const body = { url: trigger.url, events: ['contact.created'], description: 'n8n: of before' };
		const subscription = await sandbox.create('webhooks', body);
		await trigger.activate();
		expect((await onlySubscription()).id).not.toBe(subscription.id);
		await happen('Moreno');
		await came('Moreno');
	});

	test('if a service sorts events, or spells the address differently, the trigger changes nothing', async () => {
		trigger.parameters = { events: ['contact.updated', 'contact.created'] };
		service.edit(({ body }) => {
			if (!Array.isArray(body.events)) return;
			body.events.sort();
			body.url = String(body.url).replace('http://', 'HTTP://');
		});
		await trigger.activate();
		await trigger.look();
		expect(service.passed.filter((request) => request.startsWith('PATCH'))).toEqual([]);
		expect(trigger.warnings).toEqual([]);
	});

	test('events that failed while n8n was down are recovered at the first look after its start', async () => {
		await trigger.activate();
		trigger.fails = 503;
		await happen('meanwhile');
		await deliveriesFail();
		trigger.fails = undefined;
		await trigger.restart();
		service.passed.splice(0);
		await trigger.look();
		expect(service.passed.filter((request) => request.endsWith('/recover'))).toHaveLength(1);
		expect(trigger.wait).toBe(60_000);
		await came('meanwhile');
	});

	test('after an unpublish with a failed delivery, only events from the minute before it are recovered', async () => {
		await trigger.activate();
		await happen('old');
		await came('old');
		await sandbox.advance(100);
		trigger.fails = 503;
		await happen('failed');
		await deliveriesFail();
		service.edit((answer) => void (answer.date = new Date(Date.now() + 600_000).toUTCString()));
		await trigger.deactivate();
		service.edit(() => undefined);
		trigger.fails = undefined;
		await trigger.activate();
		await came('failed', 'old');
		expect(await deliveries()).toHaveLength(1);
	});

	test('a look at a correct subscription needs two small requests', async () => {
		await trigger.activate();
		await trigger.look();
		service.passed.splice(0);
		await trigger.look();
		expect(service.passed).toHaveLength(2);
	});

	test.each([0, 1])('a list that is some seconds behind when the workflow is unpublished loses nothing (total %d)', async (total) => {
		await trigger.activate();
		trigger.fails = 503;
		await happen('late');
		await until(() => trigger.answers.includes(503));
		// A replica does not know of the delivery yet.
		service.edit((answer) => {
			answer.date = new Date(Date.now() + 10_000).toUTCString();
			if (answer.path.includes('/deliveries')) answer.body = { data: [], next_cursor: null, total };
		});
		await trigger.deactivate();
		service.edit(() => undefined);
		trigger.fails = undefined;
		await trigger.activate();
		await came('late');
	});
});
