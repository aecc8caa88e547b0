import { useAlteredService } from '../../support/altered-trigger';
import { quickRetries } from '../../support/quick-retries';
import { until } from '../../support/until.ts';
import {
	came,
	change,
	disableSubscription,
	elsewhere,
	happen,
	moved,
	oneTakenOneRefused,
	onlySubscription,
	sandbox,
	subscriptions,
	trigger,
} from '../../support/watched-trigger';

const service = useAlteredService();
const refusal = (status: number, pointer?: string) => ({
	status,
	body: JSON.stringify({ title: 'Refused', status, ...(pointer && { errors: [{ pointer, detail: 'must be public' }] }) }),
	type: 'application/problem+json',
});
const refuse = (method: string, path: RegExp, status: number) =>
	service.alter({ request: (request) => (request.method === method && path.test(request.url.pathname) ? refusal(status) : undefined) });

describe('A service that refuses to change a subscription, although it describes such changes', () => {
	const statuses = [400, 403, 404, 405, 409, 410, 422, 501];
	const refusePatch = (status: number) => refuse('PATCH', /\/webhooks\//, status);

	test.each(statuses)('%d: when n8n gets another address, another subscription is created, and nothing is lost', async (status) => {
		await trigger.activate();
		await oneTakenOneRefused();
		refusePatch(status);
		await trigger.restart(moved());
		await trigger.look();
		expect(await onlySubscription()).toMatchObject({ url: elsewhere(), status: 'active' });
		await happen('after');
		await came('after', 'before', 'meanwhile');
		expect(trigger.reported).toEqual([]);
	});

	test.each([{ events: ['deal.won'] }, { status: 'disabled' }])('405: %j is repaired with another subscription', async (changed) => {
		await trigger.activate();
		// Only the service itself disables one.
		if (changed.status === undefined) await change('PATCH', changed);
		else await disableSubscription();
		await happen('meanwhile');
		refusePatch(405);
		await trigger.look();
		expect(await onlySubscription()).toMatchObject({ url: trigger.url, events: ['contact.created'], status: 'active' });
		await until(() => JSON.stringify(trigger.started).includes('meanwhile'));
	});

	test('405: a publish with other events creates another subscription', async () => {
		await trigger.activate();
		refusePatch(405);
		trigger.parameters = { events: ['contact.created', 'deal.won'] };
		await trigger.activate();
		expect(await onlySubscription()).toMatchObject({ events: ['contact.created', 'deal.won'] });
	});

	test.each([
		[403, undefined, 'No event reaches this trigger'],
		[422, '/url', 'The CRM cannot deliver to this n8n at'],
	])('if it also refuses another one with %d (%s), the former one stays and the user is warned', async (status, pointer, expectedReport) => {
		await trigger.activate();
		const { id } = await onlySubscription();
		service.alter({
			request: ({ method, url }) =>
				(method === 'PATCH' || method === 'POST') && /\/webhooks/.test(url.pathname) ? refusal(status, pointer) : undefined,
		});
		await trigger.restart(moved());
		for (let look = 0; look < 5; look++) await trigger.look();
		expect(await onlySubscription()).toMatchObject({ id, url: trigger.url });
		expect(trigger.reported).toEqual([expect.stringContaining(expectedReport)]);
		service.alter({});
		await trigger.look();
		expect(await onlySubscription()).toMatchObject({ id, url: elsewhere() });
	});

	test('a subscription whose first response was lost does not remain beside the other', async () => {
		quickRetries();
		await trigger.activate();
		let lost = 0;
		service.alter({
			request: ({ method }) => (method === 'PATCH' ? refusal(405) : undefined),
			answer: (text, { method, url }) => (method === 'POST' && url.pathname === '/v1/webhooks' && lost++ < 8 ? undefined : text),
		});
		await trigger.restart(moved());
		await trigger.look();
		expect(await subscriptions()).toHaveLength(2);
		lost = 100;
		await trigger.look();
		expect(await onlySubscription()).toMatchObject({ url: elsewhere() });
		await happen('after');
		await came('after');
	});

	test('a webhook that the service does not delete is reported, and no more are created', async () => {
		await trigger.activate();
		const { id } = await onlySubscription();
		service.alter({ request: ({ method }) => (method === 'PATCH' || method === 'DELETE' ? refusal(405) : undefined) });
		await trigger.restart(moved());
		for (let look = 0; look < 3; look++) await trigger.look();
		expect(await subscriptions()).toHaveLength(2);
		expect(trigger.warnings.join()).toContain(`Delete the webhook ${String(id)}`);
	});
});

test.each([404, 405])('described rotation that answers %d: a subscription whose secret is unknown is created again', async (status) => {
	refuse('POST', /rotate-secret/, status);
	await sandbox.create('webhooks', { url: trigger.url, events: ['contact.created'], description: 'n8n: of before' });
	await trigger.activate();
	await happen('Moreno');
	await came('Moreno');
	expect(await onlySubscription()).toMatchObject({ url: trigger.url });
});

test('another client’s webhook with n8n’s address is never changed or deleted', async () => {
	const other = await sandbox.create('webhooks', { url: trigger.url, events: ['deal.won'], description: 'Billing' });
	await trigger.activate();
	expect(await subscriptions()).toHaveLength(2);
	await happen('Moreno');
	await came('Moreno');
	trigger.staticData = {};
	await trigger.restart();
	await trigger.look();
	expect(await subscriptions()).toHaveLength(2);
	await trigger.deactivate();
	await trigger.deactivate();
	expect(await onlySubscription()).toMatchObject({ id: other.id, version: 1, events: ['deal.won'] });
});

describe('A recovery that the CRM describes', () => {
	test('is not requested at a first publish', async () => {
		refuse('POST', /\/recover/, 422);
		await trigger.activate();
		await happen('Moreno');
		await came('Moreno');
	});

	test.each([404, 405, 410, 501])('answers with %d: a publish and a look report possibly missing events', async (status) => {
		refuse('POST', /\/recover/, status);
		await trigger.activate();
		await trigger.deactivate();
		await trigger.activate();
		expect(trigger.warnings.join()).toContain('the CRM does not recover missed events');
		await trigger.restart();
		await trigger.look();
		expect(trigger.reported).toEqual([]);
		await happen('Moreno');
		await came('Moreno');
	});

	test('answers with the 404 page of a web server: the publish fails, and the next one recovers the missed events', async () => {
		await trigger.activate();
		await trigger.deactivate();
		await happen('missed');
		const page = { status: 404, type: 'text/html', body: '<!doctype html><title>Not found</title>' };
		service.alter({ request: ({ url }) => (url.pathname.endsWith('/recover') ? page : undefined) });
		await expect(trigger.activate()).rejects.toThrow(/^The URL .*web page/);
		service.alter({});
		await trigger.activate();
		await came('missed');
	});

	test('is refused: the message tells what to turn off', async () => {
		refuse('POST', /\/recover/, 422);
		await trigger.activate();
		await trigger.deactivate();
		const failure = await trigger.activate().catch((error: { message: string; description: string }) => error);
		expect(failure).toMatchObject({
			message: expect.stringContaining('refuses to recover missed events'),
			description: expect.stringContaining('turn off Recover Missed Events'),
		});
	});
});

test('numeric ids are used as they are', async () => {
	const numbers = new Map<string, number>();
	service.alter({
		request(request) {
			const id = /webhooks\/(\d+)/.exec(request.url.pathname)?.[1];
			const real = [...numbers].find(([, number]) => String(number) === id)?.[0];
			if (real) request.url.pathname = request.url.pathname.replace(`webhooks/${id!}`, `webhooks/${real}`);
		},
		answer: (text, { url }) =>
			/\/webhooks/.test(url.pathname)
				? text.replace(/"(whk_\w+)"/g, (_, id: string) => String(numbers.get(id) ?? numbers.set(id, numbers.size + 1).get(id)))
				: text,
	});
	await trigger.activate();
	await trigger.look();
	await happen('Moreno');
	await came('Moreno');
	await trigger.deactivate();
	expect(await subscriptions()).toEqual([]);
});
