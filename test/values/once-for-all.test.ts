import type { IDataObject } from 'n8n-workflow';

import { dependsOnItem } from '../../nodes/CrmPlatform/mapping/sameForAll';
import { nodeRuns } from '../support/node-runs.ts';
import { getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 3 });
const { run } = nodeRuns(sandbox);
const items = Array.from({ length: 50 }, (_, i) => ({ n: i }));

async function read(more: IDataObject, filters: IDataObject = {}, setup = {}) {
	await sandbox.clear();
	const ran = await run(getMany('contact', more, filters), items, setup);
	const lists = (await sandbox.requests()).filter(({ path }) => path.startsWith('/v1/contacts')).length;
	return { ...ran, lists };
}

test('a list that depends on no item is read once, and a hint explains it', async () => {
	const { items: found, hints, lists } = await read({ limit: 2, returnAll: false });
	expect([found.length, lists]).toEqual([2, 1]);
	expect(found.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 0 }]);
	expect(hints).toEqual([expect.stringContaining('Done once, not 50 times')]);
	expect((await read({ limit: '={{ $vars.limit ?? 1 }}', returnAll: false })).lists).toBe(1);
});

test('a list that may depend on the item is read for each item', async () => {
	const { items: found, hints, lists } = await read({ limit: '={{ $json.n % 2 + 1 }}', returnAll: false });
	expect([found.length, lists, hints]).toEqual([75, 50, []]);
});

test('a failure of a shared request does not fail the other items', async () => {
	await sandbox.clear();
	const parameters = getMany('contact', { limit: 0, returnAll: false });
	const { items: failed } = await run(parameters, items, { continueOnFail: true });
	expect(failed).toMatchObject([{ json: { error: expect.stringContaining('Limit') }, pairedItem: { item: 0 } }]);
});

test.each([
	['={{ $now.minus({ days: 1 }) }}', false],
	['={{ $vars.list + $workflow.id }}', false],
	['plain $json', false],
	['={{ $json.id }}', true],
	['={{ $("Contacts").item.json.id }}', true],
	['={{ $itemIndex }}', true],
	['={{ $input.first().json.id }}', true],
	['={{ Math.random() }}', true],
	['={{ $now }}{{ $position }}', true],
	['={{ $nowhere }}', true],
])('%s depends on the item: %s', (value, depends) => {
	expect(dependsOnItem({ options: { rows: [{ value }] } })).toBe(depends);
});
