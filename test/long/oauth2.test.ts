import { run } from '../support/node-runs.ts';
import { startSignInSandbox } from '../support/oauth2.ts';
import { getMany } from '../support/parameters.ts';
import { until } from '../support/until.ts';

const contacts = 20_000;

test('20,000 contacts are returned completely though the access token expires meanwhile', async () => {
	const sandbox = await startSignInSandbox({
		contacts,
		tokenLifetimes: { replacedRefreshToken: 0 },
	});
	const credential = await sandbox.credential();
	const running = run({ credential, parameters: getMany('contact', { simplify: true }) });
	await until(async () => (await sandbox.requests()).length >= 10);
	sandbox.expire();
	const { items } = await running;
	const requests = await sandbox.requests();
	await sandbox.close();
	expect(items).toHaveLength(contacts);
	expect(new Set(items.map(({ json }) => json.id)).size).toBe(contacts);
	expect(requests.filter((request) => request.startsWith('POST'))).toEqual([
		'POST /oauth/token 200',
	]);
});
