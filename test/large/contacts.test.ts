import { run } from '../integration/n8n.ts';
import { getMany } from '../integration/parameters.ts';
import { useSandbox } from '../integration/sandbox.ts';

const contacts = 130_000;
const sandbox = useSandbox({ contacts, plan: 'enterprise' });

test('130,000 contacts come back whole, each once, in the largest pages', async () => {
	const { items } = await run({
		credential: sandbox.credential,
		parameters: getMany('contact', { simplify: true }),
	});
	expect(items).toHaveLength(contacts);
	expect(new Set(items.map(({ json }) => json.id)).size).toBe(contacts);
	expect(await sandbox.requests()).toHaveLength(contacts / 500);
}, 300_000);
