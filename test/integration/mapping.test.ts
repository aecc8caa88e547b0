import type { IDataObject } from 'n8n-workflow';

import { itemPath, valueAt } from '../../nodes/CrmPlatform/mapping/itemPath';
import { executeContext, run } from './n8n.ts';
import { create } from './parameters.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox();

const leaves = ['text', '', 0, -1.5, true, false, null, [], {}, ['x', [1]], '2026-03-01', 'null'];
const keys = ['a', 'b c', '0', 'ünï', 'a.b', 'it"s'];

/** Every leaf under every key, flat, one deeper, and in a list. */
const json = Object.fromEntries(
	keys.flatMap((key, k) =>
		leaves.flatMap((leaf, l) => [
			[`${key}${l}`, leaf],
			[`deep${k}_${l}`, { [key]: leaf, list: [leaf, { [key]: leaf }] }],
		]),
	),
) as IDataObject;

const step = (key: string) => (/^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

const expressions = keys.flatMap((key, k) =>
	leaves.flatMap((_, l) => {
		const deep = `$json.deep${k}_${l}`;
		return [
			`$json${step(key + l)}`,
			`$json${step(key + l)}.missing`,
			`${deep}${step(key)}`,
			`${deep}.list[0]`,
			`${deep}.list[1]${step(key)}`,
			`${deep}.list[9]${step(key)}.more`,
		];
	}),
);

test('a value read from the item is the value n8n’s engine gives, whatever the JSON', () => {
	const parameters = create('contact', {});
	const { context } = executeContext({ credential: sandbox.credential, parameters, items: [json] });
	const known = expressions.filter((expression) => itemPath(`={{ ${expression} }}`));
	expect(known.length).toBeGreaterThan(300);
	for (const expression of known) {
		const path = itemPath(`={{ ${expression} }}`) ?? [];
		const engine: unknown = context.evaluateExpression(`{{ ${expression} }}`, 0);
		expect([expression, valueAt(json, path) ?? null]).toEqual([expression, engine ?? null]);
	}
});

test('what is more than a way into the item goes through the engine', async () => {
	const { items } = await run({
		credential: sandbox.credential,
		parameters: create('contact', {
			email: '={{ $json.name.toLowerCase() }}@mapping.example',
			last_name: 'Dear {{ $json.name }}',
			job_title: '=Dear {{ $json.name }}',
			'custom_fields.renewal_date': '={{ $now.set({ year: 2026, month: 3, day: 1 }) }}',
			external_id: '={{ DateTime.fromISO("2026-03-01T00:00:00Z", { zone: "UTC" }) }}',
		}),
		items: [{ name: 'ADA' }],
	});
	expect(items[0]?.json).toMatchObject({
		email: 'ada@mapping.example',
		// Not an expression without the sign that makes it one.
		last_name: 'Dear {{ $json.name }}',
		job_title: 'Dear ADA',
		custom_fields: { renewal_date: '2026-03-01' },
		external_id: '2026-03-01T00:00:00.000Z',
	});
});
