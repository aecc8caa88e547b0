import { randomUUID } from 'node:crypto';

import { isExpression, type IDataObject, type INodeParameters } from 'n8n-workflow';

import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { executeContext, nodeRuns } from '../support/node-runs.ts';
import { automatic, create, deleteRecord, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { failure, run } = nodeRuns(sandbox);

test('anything beyond a path into the item is evaluated by the engine', async () => {
	const { items } = await run(
		create('contact', {
			email: '={{ $json.name.toLowerCase() }}@mapping.example',
			last_name: 'Dear {{ $json.name }}',
			job_title: '=Dear {{ $json.name }}',
			'custom_fields.renewal_date': '={{ $now.set({ year: 2026, month: 3, day: 1 }) }}',
			external_id: '={{ DateTime.fromISO("2026-03-01T00:00:00Z", { zone: "UTC" }) }}',
		}),
		[{ name: 'ADA' }],
	);
	expect(items[0]?.json).toMatchObject({
		email: 'ada@mapping.example',
		// Without the leading =, text is not an expression.
		last_name: 'Dear {{ $json.name }}',
		job_title: 'Dear ADA',
		custom_fields: { renewal_date: '2026-03-01' },
		external_id: '2026-03-01T00:00:00.000Z',
	});
});

describe('a mapping needs', () => {
	/** Runs the node for some items and counts the expressions n8n's engine was asked for. */
	async function evaluationsOf(parameters: INodeParameters, items: IDataObject[]) {
		const { context } = executeContext({ credential: sandbox.credential, parameters, items });
		const evaluate = jest.spyOn(context.workflow.expression, 'resolveSimpleParameterValue');
		const [output] = await new CrmPlatform().execute.call(context as never);
		expect(output).toHaveLength(items.length);
		return evaluate.mock.calls.filter(([value]) => isExpression(value)).length;
	}

	/** How many evaluations Create needs. */
	async function evaluations(fields: IDataObject) {
		const items = [1, 2, 3].map((i) => ({
			first_name: `Ada ${i}`,
			last_name: 'Lovelace',
			deep: { mail: `ada${i}.${randomUUID()}@mapping.example` },
		}));
		return await evaluationsOf(create('contact', fields), items);
	}

	test('no evaluation if the items are used as they are', async () => {
		expect(await evaluations(automatic)).toBe(0);
	});

	test('no evaluation if it consists of constants, paths into the item, and text with them', async () => {
		const fields = {
			last_name: 'Lovelace',
			first_name: '={{ $json.first_name }}',
			email: '={{ $json["deep"]?.mail }}',
			job_title: '=Dear {{ $json.first_name }} {{ $json.last_name }}!',
			phone: '={{ $json.missing.phone }}',
		};
		expect(await evaluations(fields)).toBe(0);
	});

	test('no evaluation if the records to change are given by paths into the item', async () => {
		const created = Array.from({ length: 3 }, () => ({ last_name: 'Lovelace' }));
		const { items } = await run(create('contact', automatic), created);
		const records = items.map(({ json }) => json);
		const id = '={{ $json.id }}';
		const changes = { last_name: '={{ $json.id }}', job_title: 'Countess' };
		expect(await evaluationsOf(update('contact', id, changes), records)).toBe(0);
		expect(await evaluationsOf(deleteRecord('contact', id), records)).toBe(0);
	});

	test('one evaluation for many items if it is code, missing paths included', async () => {
		const fields = {
			last_name: '={{ $json.last_name.toUpperCase() }}',
			first_name: '={{ $json.first_name || "Ada" }}',
			email: '={{ $json.deep.mail.toLowerCase() }}',
			job_title: '=Dear {{ $json.first_name.trim() }} {{ $json.nobody.at.home() }}',
			phone: '={{ $json.missing.phone.trim() }}',
		};
		expect(await evaluations(fields)).toBe(1);
	});

	test('one evaluation for each item if code reads more of it than its data', async () => {
		const fields = { last_name: '={{ $json.last_name.trim() }}', job_title: '={{ "No. " + $itemIndex }}' };
		expect(await evaluations(fields)).toBe(3);
	});
});

test('an expression that fails is reported by name, with its item', async () => {
	const parameters = create('contact', {
		last_name: '={{ $json.last_name.trim() }}',
		first_name: '={{ $json.first_name.trim() }}',
		job_title: '={{ $("Nowhere").item.json.title }}',
	});
	const items = [{ last_name: 'Lovelace', first_name: 'Ada' }];
	const error = await failure(parameters, items);
	expect(error.message).toBe('Job Title: Referenced node doesn\'t exist');
	expect(error.context.itemIndex).toBe(0);
});
