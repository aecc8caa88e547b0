import { until } from '../support/until.ts';
import { alteredService, type Instead } from '../support/altered-service.ts';
import { run } from '../support/node-runs.ts';
import { getMany } from '../support/parameters.ts';
import { eventsIn } from '../support/poll-log.ts';
import { usePublished } from '../support/published-workflow.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 520 });
const service = alteredService(sandbox, true);
/** The same service at another address. */
const corrected = alteredService(sandbox, true);
const { publish } = usePublished(service);
const log = eventsIn(sandbox);

const refusal = {
	status: 401, type: 'application/problem+json', body: JSON.stringify({ status: 401, title: 'Unauthorized', code: 'invalid_credentials' }),
};

/** A credential whose key the user replaces, and a service that accepts the keys it knows. */
function replaceable(before: (key: string, url: URL) => Promise<Instead> = async () => undefined) {
	const credential = { ...service.credential, apiKey: 'old key' };
	const accepted = new Set(['Bearer old key']);
	service.alter({
		request: async (request) => {
			const instead = await before(request.authorization, request.url);
			if (instead ?? !accepted.has(request.authorization)) return instead ?? refusal;
			request.authorization = `Bearer ${sandbox.credential.apiKey}`;
		},
	});
	return {
		credential,
		replace: () => {
			credential.apiKey = 'new key';
			accepted.add('Bearer new key');
		},
		revoke: () => void accepted.delete('Bearer old key'),
	};
}

const all = getMany('contact');

describe('the key of a credential is replaced', () => {
	test('between two pages: the execution fails with an error, and the next one reads everything with the new key', async () => {
		let pages = 0;
		let goOn = () => {};
		const { credential, replace, revoke } = replaceable(async (key, { pathname }) => {
			if (key === 'Bearer old key' && pathname === '/v1/contacts' && (pages += 1) === 2)
				await new Promise<void>((resolve) => (goOn = resolve));
			return undefined;
		});
		const begun = run({ credential, parameters: all }).catch((error: Error) => error);
		await until(() => pages === 2);
		replace();
		revoke();
		expect((await run({ credential, parameters: all })).items).toHaveLength(520);
		goOn();
		expect(await begun).toMatchObject({ httpCode: '401', message: expect.stringContaining('did not accept the credential') });
	});

	test.each([
		['and still accepted: it continues with the old one, and the next one does not wait', false],
		['and revoked: it ends with an error, and the next one waits for nothing', true],
	])('while an execution waits in the queue, %s', async (_, isRevoked) => {
		let refusals = 0;
		let isShut = true;
		const { credential, replace, revoke } = replaceable(async (key) => {
			if (key !== 'Bearer old key' || !isShut) return undefined;
			refusals += 1;
			return { status: 429, body: '{}', headers: { 'retry-after': '0' } };
		});
		const begun = run({ credential, parameters: all }).catch((error: Error) => error);
		await until(() => refusals > 0);
		replace();
		if (isRevoked) revoke();
		const next = await run({ credential, parameters: all });
		expect(next.items).toHaveLength(520);
		isShut = false;
		expect(await begun).toMatchObject(isRevoked ? { httpCode: '401' } : { items: { length: 520 } });
	});

	test('or its base URL, under a published Poll Trigger: it continues there within a minute', async () => {
		const credential = { ...service.credential };
		const n8n = await publish({}, { credential });
		await log.contacts(1);
		await until(() => n8n.ids().length === 1);
		Object.assign(credential, corrected.credential);
		corrected.passed.length = 0;
		await until(() => corrected.passed.length > 0);
		service.passed.length = 0;
		const [event] = await log.contacts(1);
		await until(() => n8n.ids().length === 2);
		expect(n8n.ids()[1]).toBe(event);
		expect(service.passed).toEqual([]);
	});

	test('under a published Poll Trigger: it continues with the new one, and starts each event once', async () => {
		const { credential, replace, revoke } = replaceable();
		const n8n = await publish({}, { credential });
		const [before] = await log.contacts(1);
		await until(() => n8n.ids().length === 1);
		revoke();
		await until(() => n8n.reported.length > 0);
		const [meanwhile] = await log.contacts(1);
		replace();
		await until(() => n8n.ids().length === 2);
		const [after] = await log.contacts(1);
		await until(() => n8n.ids().length === 3);
		expect(n8n.ids()).toEqual([before, meanwhile, after]);
		expect(n8n.reported).toEqual([expect.stringContaining('did not accept the credential')]);
	});
});
