import { describeContacts, fieldsOf, query } from './described-document.ts';

describe('an unusual part of a document affects only that part:', () => {
	const names = (schema: object, components: object = {}) => fieldsOf(schema, components).map(({ name }) => name);

	test('schemas that contain themselves', () => {
		const schemas = {
			Node: {
				allOf: [{ $ref: '#/components/schemas/Node' }, { properties: { a: { type: 'string' } } }],
				properties: {
					parent: { $ref: '#/components/schemas/Node' },
					lists: { type: 'array', items: { $ref: '#/components/schemas/Lists' } },
				},
			},
			Lists: { type: 'array', items: { $ref: '#/components/schemas/Lists' } },
		};
		expect(names({ $ref: '#/components/schemas/Node' }, { schemas })).toEqual(
			expect.arrayContaining(['a', 'lists']),
		);
	});

	test('nulls, booleans and text where JSON Schema has another type', () => {
		const properties = {
			empty: null,
			any: true,
			never: false,
			text: { type: 'string', description: null, title: null, enum: null, maxLength: 'many' },
			odd: { type: 7, properties: [], required: 'yes', allOf: {} },
		};
		expect(fieldsOf({ properties, required: null, description: null })).toMatchObject([
			{ name: 'empty', kind: 'any' },
			{ name: 'any', kind: 'any' },
			{ name: 'text', kind: 'text' },
			{ name: 'odd', kind: 'any' },
		]);
	});

	test('extensions and nulls beside responses, parameters and operations', () => {
		const { list } = describeContacts(
			{
				parameters: [null, 'x', query('cursor', {}), { $ref: '#/nowhere' }, query('status', { enum: ['a'] })],
				responses: { 'x-note': 'text', default: null, 200: { content: null, links: { x: null } } },
				operationId: null,
			},
			{ requestBody: null, 'x-batch': null },
		);
		expect(list.filters).toMatchObject([{ name: 'status' }]);
	});

	test('members beside a reference count, and references lead anywhere', () => {
		const schemas = {
			Person: { properties: { born: { type: 'string', format: 'date' }, 'a/b': { type: 'number' } } },
			Alias: { $ref: '#/components/schemas/Person' },
		};
		const properties = {
			birthday: { $ref: '#/components/schemas/Alias/properties/born', title: 'Birthday' },
			ratio: { $ref: '#/components/schemas/Person/properties/a~1b' },
			hidden: { $ref: '#/components/schemas/Person/properties/born', readOnly: true },
			lost: { $ref: '#/components/schemas/%E0%A4%A/properties/gone' },
		};
		expect(fieldsOf({ properties }, { schemas })).toMatchObject([
			{ name: 'birthday', kind: 'date', label: 'Birthday' },
			{ name: 'ratio', kind: 'number' },
			{ name: 'lost', kind: 'any' },
		]);
	});

	test('several body types are read as all their fields', () => {
		const person = { properties: { name: { type: 'string' }, code: { type: 'string' } }, required: ['name'] };
		const firm = { properties: { name: { type: 'string' }, code: { type: 'number' } }, required: ['name', 'code'] };
		expect(fieldsOf({ oneOf: [person, firm] })).toMatchObject([
			{ name: 'name', kind: 'text', required: true },
			{ name: 'code', kind: 'any', required: false },
		]);
	});

	test('numbers and objects without a single type are not converted to text', () => {
		const properties = {
			a: { type: ['string', 'integer'] },
			b: { oneOf: [{ type: 'string' }, { type: 'object', properties: { x: {} } }] },
			c: { description: 'anything' },
			d: { type: ['integer', 'number', 'null'] },
			e: { anyOf: [{ type: 'string', format: 'date' }, { type: 'string', format: 'date' }] },
		};
		expect(fieldsOf({ properties }).map(({ kind }) => kind)).toEqual(['any', 'any', 'any', 'number', 'date']);
	});
});
