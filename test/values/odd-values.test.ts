import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { useForms } from '../services/form-runs.ts';
import { failure, run } from '../support/node-runs.ts';
import { automatic, create, update } from '../support/parameters.ts';

/** A service whose fields have names and types that others rarely have. It keeps what it is sent. */
const textSchema = { type: 'string' };
const listOf = (items: object) => ({ type: 'array', items });
const inherited = ['toString', 'valueOf', 'constructor', 'hasOwnProperty'];
const properties = Object.fromEntries([
	['name', textSchema],
	...inherited.map((name) => [name, { ...textSchema, format: name }]),
	['scores', listOf({ type: 'number' })],
	['flags', listOf({ type: 'boolean' })],
	['days', listOf({ type: 'string', format: 'date' })],
	['times', listOf({ type: 'string', format: 'date-time' })],
	['words', listOf(textSchema)],
	['sizes', listOf({ type: 'string', enum: ['small', 'large'] })],
	['a.b', textSchema],
	['a', { type: 'object', properties: { b: textSchema, c: textSchema } }],
	['amount', { type: 'number' }],
]) as IDataObject;

const forms = useForms();
let writtenBodies: string[];

beforeEach(() => {
	writtenBodies = [];
	const write = { requestBody: { content: { 'application/json': { schema: { type: 'object', properties } } } } };
	forms.form = {
		document: { openapi: '3.1.0', paths: { '/v1/contacts': { get: {}, post: write }, '/v1/contacts/{id}': { get: {}, patch: write } } },
		answer({ method, url, body }) {
			if (method === 'GET') return { body: { data: [], next_cursor: null } };
			writtenBodies.push(body);
			return { body: { id: /contacts\/(.+)/.exec(url.pathname)?.[1] ?? 'r1' } };
		},
	};
});

const setup = (items: IDataObject[], more: INodeParameters = {}) => ({
	credential: forms.credential(),
	parameters: { ...update('contact', 'r1', automatic), ...more },
	items,
});
const sentRecords = () => writtenBodies.map((body) => JSON.parse(body) as IDataObject);

describe.each([
	['by hand', (words: unknown) => ({ fields: { mappingMode: 'defineBelow', value: { name: 'Ada', words } } })],
	[
		'by hand, by expression',
		(words: unknown) => ({ fields: { mappingMode: 'defineBelow', value: { name: 'Ada', words: `={{ ${JSON.stringify(words)} }}` } } }),
	],
	['as JSON', (words: unknown) => ({ fieldsMode: 'json', fieldsJson: JSON.stringify({ name: 'Ada', words }) })],
])('a list field with %s', (kind, parameters) => {
	const sentWith = async (words: unknown) => {
		await run({ ...setup([{}]), parameters: { ...update('contact', 'r1', {}), ...(parameters(words) as INodeParameters) } });
		return sentRecords();
	};

	test.each([[[]], [['', null]], [null], ['']])('as %j is cleared, except if the form is left blank', async (words) => {
		const isLeft = kind === 'by hand';
		const cleared = Array.isArray(words) ? [] : null;
		expect(await sentWith(words)).toEqual([isLeft ? { name: 'Ada' } : { name: 'Ada', words: cleared }]);
	});
});

describe('a list', () => {
	test('has the type the CRM takes, as a single value does', async () => {
		await run(setup([{
			scores: '1, 2.5',
			flags: 'true, False',
			days: ['2026-03-31', '2026-04-01T00:00:00Z'],
			times: '["2026-03-31T14:30:00Z"]',
			words: ['a', 7, null, ''],
			sizes: 'Small, large',
		}]));
		expect(sentRecords()).toEqual([{
			scores: [1, 2.5],
			flags: [true, false],
			days: ['2026-03-31', '2026-04-01'],
			times: ['2026-03-31T14:30:00.000Z'],
			words: ['a', '7'],
			sizes: ['small', 'large'],
		}]);
	});

	test.each([
		['scores', '1, x', "Scores: “x” is not a number such as 12.5"],
		['flags', 'true, maybe', "Flags: “maybe” is not true or false"],
		['days', '2026-03-31, soon', "Days: “soon” is not a date such as 2026-03-31"],
		['words', [{ a: 1 }], `Words: “{"a":1}” is not text`],
		['amount', '0.12345678901234567', "Amount: “0.12345678901234567” is not a number that can be sent"],
	])('of %s that cannot be converted, %j, is refused as a single value is', async (name, value, message) => {
		expect((await failure(setup([{ [name]: value }]))).message).toContain(message);
		expect(sentRecords()).toEqual([]);
	});
});

test('an object that is no text fails only its own item where a date is written in another notation', async () => {
	const options = { valuesIn: { notation: { dates: 'dayMonth' } } };
	const { items } = await run({ ...setup([{ days: [{ toString: 1 }] }, { name: 'Grace' }], { options }), continueOnFail: true });
	expect(items[0]!.json.error).toContain('Days: “{"toString":1}” is not a date');
	expect(sentRecords()).toEqual([{ name: 'Grace' }]);
});

describe('a field with a name and a format that every object has', () => {
	test.each(inherited)('%s, is sent, and only if the item has it', async (name) => {
		const item = JSON.parse(`{"${name}": "Ada"}`) as IDataObject;
		// By hand, n8n itself drops a field called constructor.
		const byHand = { ...create('contact', item), fieldsMode: 'each' };
		const asJson = { ...create('contact', {}), fieldsMode: 'json', fieldsJson: JSON.stringify(item) };
		const preview = await run(setup([{}], { ...asJson, options: { preview: true } }));
		expect(preview.items[0]!.json.preview).toMatchObject({ action: 'create' });
		await run(setup([item, { name: 'Grace' }]));
		await run(setup([{}], name === 'constructor' ? asJson : byHand));
		expect(writtenBodies).toEqual([`{"${name}":"Ada"}`, '{"name":"Grace"}', `{"${name}":"Ada"}`]);
	});
});

test('a value called __proto__ is reported if the CRM does not accept it', async () => {
	const { hints } = await run(setup([JSON.parse('{"name": "Ada", "__proto__": "x"}')]));
	expect(hints.join()).toContain('the CRM has no such field: __proto__');
	expect(writtenBodies).toEqual(['{"name":"Ada"}']);
});

describe('`a.b` beside `a {b}`', () => {
	test('are two fields if the CRM has both', async () => {
		await run(setup([{ 'a.b': 'flat', a: { b: 'member', c: 'C' } }]));
		expect(sentRecords()).toEqual([{ 'a.b': 'flat', a: { b: 'member', c: 'C' } }]);
	});

	test('are one field if the CRM has one of them, so different values are refused', async () => {
		const { message } = await failure(setup([{ 'a.c': 'one', a: { c: 'other' } }]));
		expect(message).toContain('“a.c” and “a.c” both map to this field, with different values');
		expect(sentRecords()).toEqual([]);
	});

	const blankAndValue = { 'a.c': null, a: { c: 'one' } };
	test.each<[string, IDataObject, INodeParameters]>([
		['JSON', {}, { fieldsMode: 'json', fieldsJson: JSON.stringify(blankAndValue) }],
		['an item whose empty cells clear', blankAndValue, { options: { emptyCells: 'clear' } }],
	])('are two values if a blank of %s would clear the field', async (_, item, parameters) => {
		const { message } = await failure(setup([item], { ...update('contact', 'c1', item), ...parameters }));
		expect(message).toContain('“a.c” and “a.c” both map to this field, with different values');
		expect(writtenBodies).toEqual([]);
	});

	test('are one value of a new record if one of them is blank', async () => {
		await run(setup([{}], { ...create('contact', {}), fieldsMode: 'json', fieldsJson: JSON.stringify(blankAndValue) }));
		expect(sentRecords()).toEqual([{ a: { c: 'one' } }]);
	});

	test('are one value if a blank leaves the field as it is', async () => {
		await run(setup([blankAndValue], update('contact', 'c1', automatic)));
		expect(sentRecords()).toEqual([{ a: { c: 'one' } }]);
	});

	test('are one value if they are equal', async () => {
		await run(setup([{ 'a.c': 'one', a: { c: 'one' } }, { a: null, 'a.c': 'one' }, { 'a.c': 'one', a: null }]));
		expect(sentRecords()).toEqual([{ a: { c: 'one' } }, { a: { c: 'one' } }, { a: { c: 'one' } }]);
	});
});
