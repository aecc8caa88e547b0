import { randomUUID } from 'node:crypto';
import { type IDataObject, type INodeParameters, isExpression } from 'n8n-workflow';

import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { executeContext, nodeRuns } from '../support/node-runs.ts';
import { automatic, byId, create, deleteRecord, on, update } from '../support/parameters.ts';
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

describe('fields given as JSON', () => {
	const asJson = (resource: string, operation: string, json: unknown, more: IDataObject = {}) => ({
		resource,
		operation,
		fieldsMode: 'json',
		fieldsJson: json as string,
		simplify: false,
		...more,
	});

	test('are written like mapped ones: nested as given, and typed', async () => {
		const json = JSON.stringify({
			last_name: 'Json',
			address: { city: 'Madrid' },
			'address.country': 'ES',
			custom_fields: { renewal_date: '2026-03-01T00:00:00.000Z', nps_score: '9', interests: 'events,training' },
		});
		const { items, hints } = await run(asJson('contact', 'create', json));
		expect(hints).toEqual([]);
		expect(items[0]?.json).toMatchObject({
			last_name: 'Json',
			address: { city: 'Madrid', country: 'ES' },
			custom_fields: { renewal_date: '2026-03-01', nps_score: 9, interests: ['events', 'training'] },
		});
	});

	test('come with a description of the choices, and a wrong choice is refused with the right ones', async () => {
		const { properties } = new CrmPlatform().description;
		const property = properties.find(
			({ name, displayOptions }) =>
				name === 'choicesNotice' && displayOptions?.show?.['resource']?.includes('ticket'),
		);
		expect(property?.displayName).toContain('priority: low, normal, high, urgent.');

		const creating = run(asJson('ticket', 'create', '{"subject":"Lamp","priority":"highest"}'));
		await expect(creating).rejects.toThrow('one of: low, normal, high, urgent');
	});

	test.each<[name: string, value: unknown]>([
		...[
			'#N/A', ' #DIV/0! ', '#BEZUG!', '#VÄRDEFEL!', '#¡NULO!', '#NUL!', '#Н/Д', '#YOK', 'Err:502', '########', 'undefined', 'NaN',
			...['Invalid DateTime', 'Invalid date', String({}), 'Acme GmbH }}'],
		].map((text): [string, string] => ['job_title', text]),
		['custom_fields.interests', ['events', '#REF!']],
		['emails', [{ value: 'undefined' }]],
	])('that a broken formula or expression has left are refused: %s %j', async (name, value) => {
		const creating = run(asJson('contact', 'create', JSON.stringify({ last_name: 'Broken', [name]: value })));
		await expect(creating).rejects.toThrow(/is the result of a broken formula.*Error Texts Are/);
	});

	test.each(['#N/A', 'undefined'])('that look broken are written if an option says so: %s', async (text) => {
		const json = JSON.stringify({ last_name: 'Broken', job_title: text });
		const { items } = await run(asJson('contact', 'create', json, { options: { valuesIn: { notation: { errorTexts: 'written' } } } }));
		expect(items[0]?.json).toMatchObject({ job_title: text });
	});

	const ordinaryTexts = ['#1 in sales', 'NaN Smith', '#NA', 'The undefined', '#Thanks!', '#1!', 'C##'];

	test.each(ordinaryTexts)('that only resemble such a text are written: %s', async (text) => {
		const { items } = await run(asJson('contact', 'create', JSON.stringify({ last_name: 'Fine', job_title: text })));
		expect(items[0]?.json).toMatchObject({ job_title: text });
	});

	test.each(['', '[1]', 'Ada', '={{ $json.nothing }}'])('are refused if they are %p', async (json) => {
		const parameters = asJson('contact', 'create', json);
		const error = await failure(parameters);
		expect(error.message).toMatch(/Fields \(JSON\): .* is not an object such as/);
	});
});

const asJson = { fieldsMode: 'json', fieldsJson: '={{ $json }}' };
const created = async (more: IDataObject = {}) => await sandbox.create('contacts', { last_name: 'Left', ...more });

/** What the user is told after the items were written. */
async function hintsOf(parameters: object, items: IDataObject[]): Promise<string[]> {
	return (await run(parameters, items)).hints;
}

test('names that the CRM does not have are reported in one notice, which lists ten', async () => {
	const items = Array.from({ length: 30 }, (_, i) => ({ last_name: `x${i}`, [`k${i}`]: 1, z: 1 }));
	const hints = await hintsOf({ resource: 'contact', operation: 'create', ...asJson }, items);
	expect(hints).toEqual([expect.stringContaining('k0, z, k1, k2, k3, k4, k5, k6, k7, k8 and 21 more.')]);
});

test('a record that was read is written to another, without a notice about fields that only the CRM sets', async () => {
	const field = { resource: 'contacts', key: 'computed', label: 'Computed', type: 'text' };
	await sandbox.create('custom-fields', { ...field, read_only: true });
	const source = await created({ job_title: 'Pilot' });
	source.custom_fields = { ...(source.custom_fields as IDataObject), computed: 'by the CRM' };
	const target = await created();
	const { items, hints } = await run({ ...on('contact', 'update', target.id), ...asJson }, [source]);
	expect(items[0]?.json).toMatchObject({ id: target.id, job_title: 'Pilot' });
	expect(hints).toEqual([]);
});

test('a value that was entered for a field that only the CRM sets is reported', async () => {
	const { id } = await created();
	const parameters = { ...on('contact', 'update', id), fieldsMode: 'json', fieldsJson: '{"name":"Ada","first_name":"Ada"}' };
	expect((await hintsOf(parameters, [{}])).join()).toMatch(/no such field.*: name\./);
});

describe('an item without anything to send is an error and causes no request', () => {
	const refused = async (parameters: object, items: IDataObject[]) =>
		(await failure(parameters, items)).message;

	test.each([automatic, asJson])('if its names differ from the CRM’s', async (how) => {
		const { id } = await created();
		await sandbox.clear();
		const message = await refused({ ...on('contact', 'update', id), ...how }, [{ Alias: 'Y' }]);
		expect(message).toMatch(/^None of the item’s values match a field.* has Alias; .* first_name, last_name/);
		expect(await sandbox.writes()).toEqual([]);
	});

	test.each([
		['nothing is mapped', {}],
		['every path is mistyped', { job_title: '={{ $json.jobtitel }}' }],
	])('if %s', async (_, fields) => {
		const { id } = await created();
		expect(await refused(update('contact', id, fields), [{}])).toMatch(/no values to write/);
		expect(await refused(create('contact', fields), [{}])).toMatch(/no values to write/);
	});
});

test('a mistyped path leaves the field as it is and is reported, null clears it', async () => {
	const { id } = await created({ job_title: 'Pilot', language: 'es' });
	const fields = { last_name: 'New', job_title: '={{ $json.jobtitel }}', language: '={{ null }}' };
	const { items, hints } = await run(update('contact', id, fields), [{}]);
	expect(items[0]?.json).toMatchObject({ last_name: 'New', job_title: 'Pilot', language: null });
	expect(hints).toEqual([expect.stringMatching(/returned undefined: Job Title\./)]);
});

test('a picked record whose path is mistyped leaves the reference as it is', async () => {
	const [company] = await sandbox.list('companies?limit=1');
	const [tag] = await sandbox.list('tags?limit=1');
	const { id } = await created({ company_id: company!.id, tag_ids: [tag!.id] });
	const paths = { company_id: '={{ $json.compnay }}', tag_ids: '={{ [$json.tags, $json.tagg] }}' };
	const records = Object.entries(paths).map(([field, path]) => ({ field, record: byId(path) }));
	const { items, hints } = await run({ ...update('contact', id, { last_name: 'New' }), fieldsLinked: { records } }, [{}]);
	expect(items[0]?.json).toMatchObject({ last_name: 'New', company_id: company!.id, tag_ids: [tag!.id] });
	expect(hints).toEqual([expect.stringMatching(/returned undefined: Company, Tags\./)]);
});

test('a value that should be an object is reported, in every way of mapping', async () => {
	const items = [{ last_name: 'x', address: '12 rue X, Lyon', custom_fields: 'nps=1' }];
	for (const parameters of [create('contact', automatic), { ...create('contact', {}), ...asJson }]) {
		const hints = await hintsOf(parameters, items);
		expect(hints).toEqual([expect.stringMatching(/is not an object such as.*: address, custom_fields\.$/)]);
	}
});

test('an empty object is not a mistake', async () => {
	const [deal] = await sandbox.list('deals?status=open&limit=1');
	const parameters = { ...on('deal', 'lose', deal!.id), fieldsMode: 'json', fieldsJson: '{}' };
	expect(await hintsOf(parameters, [{}])).toEqual([]);
});
