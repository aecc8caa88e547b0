import { run } from '../support/node-runs.ts';
import { automatic, create } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();

test('10,000 creates are 100 requests, and the credential is decrypted a few times', async () => {
	const count = 10_000;
	const { items, decryptions } = await run({
		credential: sandbox.credential,
		parameters: create('contact', automatic),
		items: Array.from({ length: count }, (_, i) => ({ email: `large-${i}@creates.example` })),
	});
	const writes = await sandbox.requests();
	expect(writes.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual(
		new Array(count / 100).fill('POST /v1/contacts/batch/create 207'),
	);
	expect(decryptions).toBeLessThan(25);
	expect(new Set(items.map(({ json }) => json.id)).size).toBe(count);
	expect(items.map(({ json }) => json.email)).toEqual(
		Array.from({ length: count }, (_, i) => `large-${i}@creates.example`),
	);
});
