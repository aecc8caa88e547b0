import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';

import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { unionOf } from '../../nodes/CrmPlatform/api/lists/union';
import { failure, run } from '../support/node-runs.ts';
import { byId, getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const setup = (filters: IDataObject, items: IDataObject[] = [{}]) => ({
	credential: sandbox.credential,
	parameters: getMany('contact', {}, filters),
	items,
});
const pickedSetup = (field: string, id: string) => {
	const rows = [{ field, operator: 'isRecord', record: byId(id) }];
	return { ...setup({}), parameters: { ...getMany('contact'), filters: { rows } } as INodeParameters };
};
const listed = async () => (await sandbox.requests()).filter(({ path }) => path === '/v1/contacts');

test('each task that hangs on one of the records is found, by their names, emails or IDs', async () => {
	const email = 'task@linked.example';
	const contact = await sandbox.create('contacts', { last_name: 'Linked', email });
	const company = await sandbox.create('companies', { name: 'Linked' });
	const [onContact, onCompany] = [{ resource: 'contacts', id: contact.id }, { resource: 'companies', id: company.id }];
	const { id: both } = await sandbox.create('tasks', { title: 'Call', links: [onContact, onCompany] });
	const { id: onlyCompany } = await sandbox.create('tasks', { title: 'Call', links: [onCompany] });
	const found = async (row: IDataObject) => {
		const parameters = { ...getMany('task'), filters: { rows: [row] } } as INodeParameters;
		return (await run({ ...setup({}), parameters })).items.map(({ json }) => json.id);
	};
	expect(await found({ field: 'linked_to: contacts', operator: 'is', value: email })).toEqual([both]);
	expect(await found({ field: 'linked_to: companies', operator: 'isRecord', record: byId(company.id) })).toEqual([both, onlyCompany]);
	expect(await found({ field: 'linked_to', operator: 'is', value: `contacts:${contact.id}` })).toEqual([both]);
});

describe('a filter is never dropped, since every record would be returned:', () => {
	test.each<[IDataObject, IDataObject]>([
		[{ email: '={{ $json.email }}' }, { mail: 'ada@filters.example' }],
		[{ email: '={{ $json.email.trim() }}' }, { email: ' ' }],
		[{ email: '={{ $json.email }}', lifecycle_stage: 'lead' }, { email: null }],
		[{ owner_id: '={{ $json.owners }}' }, { owners: [] }],
		[{ owner_id: '={{ $json.owners }}' }, { owners: ['', null] }],
		[{ email: '' }, {}],
	])('%j is refused for %j', async (filters, item) => {
		const { message } = await failure(setup(filters, [item]));
		expect(message).toMatch(/^(Email|Owner): the filter has no value\. Enter a value or remove the filter\.$/);
		expect(await listed()).toEqual([]);
	});

	test('a picked record is refused if its expression returns nothing', async () => {
		const { message } = await failure(pickedSetup('company_id', '={{ $json.company }}'));
		expect(message).toBe('Company: the filter has no value. Enter a value or remove the filter.');
		expect(await listed()).toEqual([]);
	});

	test.each<[string, IDataObject | undefined]>([
		['a filter', { email: 'ada@filters.example', gone: 'x' }],
		['a custom field', { 'custom_fields.gone': 'x' }],
		['a picked record', undefined],
	])('%s that no longer exists in the CRM is refused', async (_, filters) => {
		const invalidSetup = filters ? setup(filters) : pickedSetup('gone', '1');
		expect((await failure(invalidSetup)).message).toMatch(/does not have the filter (custom_fields\.)?gone/);
		expect(await listed()).toEqual([]);
	});

	test('a filter error fails its own item only', async () => {
		const { data } = await sandbox.read('contacts?limit=1');
		const [{ email } = {}] = data as IDataObject[];
		const { items } = await run({
			...setup({ email: '={{ $json.email }}' }, [{}, { email }]),
			continueOnFail: true,
		});
		expect(items).toMatchObject([
			{ json: { error: expect.stringContaining('no value') }, pairedItem: { item: 0 } },
			{ json: { email }, pairedItem: { item: 1 } },
		]);
	});
});

test('the expression of a filter is evaluated once for each item', async () => {
	await run(setup({ email: '={{ $json.emails.shift() }}' }, [{ emails: ['first@filters.example', 'second@filters.example'] }]));
	expect((await listed()).map(({ query }) => query)).toEqual([expect.stringContaining('first')]);
});

describe('a value that a model leaves empty', () => {
	const byModel = (more = '') => `={{ $fromAI('Email', 'The e-mail address', 'string', '')${more} }}`;
	const asTool = { isTool: true };
	const listQueries = async () => (await listed()).map(({ query }) => decodeURIComponent(query ?? '')).join();

	test('leaves the filter out in a call of the tool, and a note names it', async () => {
		const { items } = await run({ ...setup({ email: byModel(), lifecycle_stage: 'lead' }, [{ query: { Email: '' } }]), ...asTool });
		expect(items.length).toBeGreaterThan(0);
		expect(await listQueries()).not.toContain('email');
		expect(items.at(-1)!.json.note).toContain('left these filters empty, so they were not applied: Email.');
	});

	test.each<[string, string, object]>([
		['in any other workflow, where $fromAI gives its default', byModel(), {}],
		['where the expression only mentions it in a comment', '={{ $json.nope /* was: $fromAI("x") */ }}', asTool],
		['where a line of the expression is a comment', '={{ $json.nope // $fromAI("x")\n }}', asTool],
		['where nothing calls it', '={{ $json.$fromAI }}', asTool],
	])('is refused %s', async (_, email, more) => {
		const { message } = await failure({ ...setup({ email }), ...more });
		expect(message).toBe('Email: the filter has no value. Enter a value or remove the filter.');
		expect(await listed()).toEqual([]);
	});

	test.each([
		['isBetween', 'custom_fields.nps_score', { value: '7', secondValue: byModel() }, 'custom_fields.nps_score[gte]=7', 'upper'],
		['isBetween', 'custom_fields.nps_score', { value: byModel(), secondValue: '9' }, 'custom_fields.nps_score[lte]=9', 'lower'],
		['isBetweenDates', 'created_at', { date: '2026-01-02', secondDate: byModel() }, 'created_at[gte]=2026-01-02T00:00:00.000Z', 'upper'],
		['isBetweenDates', 'created_at', { date: byModel(), secondDate: '2026-01-02' }, 'created_at[lt]=2026-01-03T00:00:00.000Z', 'lower'],
	])('leaves out that bound of %s only: %s %j', async (operator, field, values, query, left) => {
		const rows = [{ field, operator, ...values }] as INodeParameters[];
		const items = [{ query: { Email: '' } }];
		const { items: output } = await run({ ...setup({}, items), parameters: { ...getMany('contact'), filters: { rows } }, ...asTool });
		expect(output.at(-1)!.json.note).toContain(` (${left} bound).`);
		expect((await listQueries()).replace(/&?limit=\d+/, '')).toBe(query);
	});
});

describe('rows joined by Or', () => {
	const name = randomUUID();
	const byTitle = (job_title: string) => ({ field: 'job_title', operator: 'is', value: job_title });
	const mine = { field: 'last_name', operator: 'is', value: name };
	const rows = [mine, byTitle('a'), { ...mine, join: 'or' }, { field: 'first_name', operator: 'is', value: 'x' }];
	const withRows = (parameters: object) => ({ ...setup({}), parameters: { ...parameters, filters: { rows } } as INodeParameters });
	const reading = (more: IDataObject) => withRows(getMany('contact', more));
	const read = async (more: IDataObject) => (await run(reading(more))).items.map(({ json }) => json.language);
	beforeAll(async () => {
		const people = [['de', 'a', 'x'], ['fr', 'a', 'y'], ['es', 'b', 'x'], ['it', 'b', 'y'], ['pt', 'a', 'x']];
		for (const [language, job_title, first_name] of people) {
			await sandbox.create('contacts', { last_name: name, language, job_title, first_name });
		}
	});

	test('return the records of any group once, in the order of the list, up to the limit', async () => {
		expect(await read({})).toEqual(['de', 'fr', 'es', 'pt']);
		expect(await read({ options: { sort: '-created_at' } })).toEqual(['pt', 'es', 'fr', 'de']);
		const limited = { returnAll: false, limit: 3, options: { sort: '-created_at', outputFields: ['language'] } };
		expect(await read(limited)).toEqual(['pt', 'es', 'fr']);
	});

	test('count and export the same records', async () => {
		const { items } = await run(withRows({ resource: 'contact', operation: 'count' }));
		expect(items.map(({ json }) => json)).toEqual([{ count: 4 }]);
		const file = { resource: 'file', kind: 'contact', operation: 'exportFile', binaryField: 'data', fileFormat: 'csv' };
		const exported = await run(withRows({ ...file, options: { outputFields: ['language'] } }));
		expect(exported.items[0]!.json.records).toBe(4);
		const csv = Buffer.from(exported.items[0]!.binary!.data!.data, 'base64').toString();
		expect(csv.match(/\b(de|fr|es|pt)\b/g)).toEqual(['de', 'fr', 'es', 'pt']);
	});

	test('are refused with a limit if the service sorts otherwise than the node, which would leave records out', async () => {
		const emails = ['a.1', 'a_1', 'a_0'].map((user) => `${user}@${name}.example`);
		for (const [i, email] of emails.entries()) await sandbox.create('contacts', { last_name: `${name}${i % 2}`, email });
		const sorted = (lists: number[], more: INodeParameters = {}) => {
			const filters = { rows: lists.map((i) => ({ ...mine, value: `${name}${i}`, join: 'or' })) };
			return { ...setup({}), parameters: { ...getMany('contact', { options: { sort: 'email' }, ...more }), filters } };
		};
		const limited = { returnAll: false, limit: 2 };
		expect((await run(sorted([0, 1]))).items).toHaveLength(3);
		expect((await run(sorted([0, 2], limited))).items).toHaveLength(2);
		expect((await failure(sorted([0, 1], limited))).message).toMatch(/^The CRM sorts email in an order of its own/);
	});

	test.each([
		['times by all digits', ['2026-03-31T10:00:00.123100Z', '2026-03-31T10:00:00.125Z'], ['2026-03-31T10:00:00.1232Z']],
		['text that begins like a time', ['2026-03-31T10:00 review', 'beta'], ['2026-03-31T10:00 visit', 'alpha', 'gamma']],
	])('are sorted as the service sorts: %s', async (_, ...lists) => {
		const sorted = lists.flat().sort();
		const pages = lists.map((texts) => Readable.from([texts.map((text) => ({ id: -sorted.indexOf(text), text }))]));
		const union = unionOf(pages, [{ field: 'text', direction: 1 }, { field: 'id', direction: 1 }], true);
		const records = (await Readable.from(union).toArray()).flat() as IDataObject[];
		expect(records.map(({ text }) => text)).toEqual(sorted);
	});

	test('are refused with options of a single list', async () => {
		const { message } = await failure(reading({ options: { onePage: true } }));
		expect(message).toMatch(/^One Page and Cursor are for a single list/);
	});
});
