import { run } from '../integration/n8n.ts';
import { getMany } from '../integration/parameters.ts';
import { useSandbox } from '../integration/sandbox.ts';

const contacts = 200_000;
const sandbox = useSandbox({ contacts, plan: 'enterprise' });

// Nodes that hand all records to one push() end above 125,000 of them.
test('200,000 contacts come back whole, each once, in order, with a few requests more than pages', async () => {
	const { items, decryptions } = await run({
		credential: sandbox.credential,
		parameters: getMany('contact', { simplify: true }),
	});
	expect(items).toHaveLength(contacts);
	expect(new Set(items.map(({ json }) => json.id)).size).toBe(contacts);
	const times = items.map(({ json }) => Date.parse(String(json.created_at)));
	expect(times.every((time, i) => i === 0 || times[i - 1]! <= time)).toBe(true);
	expect(decryptions).toBe(1);

	const requests = await sandbox.requests();
	expect(requests.every(({ method, status }) => method === 'GET' && status === 200)).toBe(true);
	expect(requests.length).toBeGreaterThanOrEqual(contacts / 500);
	// Every part a cursor reads may end with a page that is not full.
	expect(requests.length).toBeLessThanOrEqual(contacts / 500 + 30);
}, 300_000);
