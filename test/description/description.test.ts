import { DateTime } from 'luxon';

import { allFilters } from '../../nodes/CrmPlatform/api/customFields';
import { describeResource } from '../../nodes/CrmPlatform/api/openapi/description';
import type { ListDescription } from '../../nodes/CrmPlatform/api/openapi/listing';
import type { OpenApiDocument } from '../../nodes/CrmPlatform/api/openapi/openapi';
import { apiValue } from '../../nodes/CrmPlatform/fields/convertValue';
import { fieldNamed, type Field } from '../../nodes/CrmPlatform/fields/field';
import { describeContacts, documentWith, fieldsOf, json, listWith, query } from './described-document.ts';

describe('fields', () => {
	test('have the kind, the label and the choices of their schema', () => {
		const properties = {
			first_name: { type: ['string', 'null'], title: 'Given Name' },
			birthday: { type: 'string', format: 'date' },
			seen_at: { type: 'string', format: 'date-time', nullable: true },
			score: { type: 'integer' },
			vip: { type: 'boolean' },
			stage: { type: 'string', enum: ['lead', 'customer', null] },
			tags: { type: 'array', items: { type: 'string' } },
			phones: { type: 'array', items: { type: 'object' } },
			extra: { type: 'object' },
		};
		expect(fieldsOf({ properties, required: ['first_name'] })).toMatchObject([
			{ name: 'first_name', label: 'Given Name', kind: 'text', required: true },
			{ name: 'birthday', label: 'Birthday', kind: 'date', required: false },
			{ name: 'seen_at', kind: 'dateTime' },
			{ name: 'score', kind: 'number' },
			{ name: 'vip', kind: 'boolean' },
			{ name: 'stage', kind: 'choice', choices: [{ value: 'lead' }, { value: 'customer' }] },
			{ name: 'tags', kind: 'list' },
			{ name: 'phones', kind: 'json' },
			{ name: 'extra', kind: 'json' },
		]);
	});

	test('of an object are offered individually', () => {
		const address = { type: 'object', title: 'Address', properties: { city: { type: 'string' } } };
		expect(fieldsOf({ properties: { address } })).toMatchObject([
			{ name: 'address.city', path: ['address', 'city'], label: 'Address: City' },
		]);
	});

	test('that the CRM fills in are not offered', () => {
		expect(fieldsOf({ properties: { id: { type: 'string', readOnly: true } } })).toEqual([]);
	});

	test('are found behind references, compositions and alternatives with null', () => {
		const schemas = {
			Base: { properties: { a: { type: 'number' } }, required: ['a'] },
			Day: { type: 'string', format: 'date' },
		};
		const schema = {
			allOf: [
				{ $ref: '#/components/schemas/Base' },
				{ properties: { b: { anyOf: [{ $ref: '#/components/schemas/Day' }, { type: 'null' }] } } },
			],
		};
		expect(fieldsOf(schema, { schemas })).toMatchObject([
			{ name: 'a', kind: 'number', required: true },
			{ name: 'b', kind: 'date', required: false },
		]);
	});
});

describe('a simplified record has', () => {
	const names = Array.from({ length: 12 }, (_, i) => [`f${i}`, { type: 'string' }]);
	const summaryWith = (more: object, parameters: object[] = []) => {
		const properties = { nested: { type: 'object' }, ...Object.fromEntries(names), id: { type: 'string' }, ...more };
		const envelope = { properties: { data: { type: 'array', items: { properties } } } };
		return describeContacts({ responses: { 200: json(envelope) }, parameters }).summary;
	};

	test('the id and the first plain values, ten in all', () => {
		expect(summaryWith({})).toEqual(['id', 'f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7', 'f8']);
	});

	test('the time of the last change, and custom fields', () => {
		const more = { updated_at: { type: 'string' }, custom_fields: { type: 'object' } };
		const summary = summaryWith(more, [query('updated_since', { type: 'string', format: 'date-time' })]);
		expect(summary.slice(-3)).toEqual(['f7', 'updated_at', 'custom_fields']);
	});
});

test('the usual order of a list is the default of its parameter, given directly or as a list', () => {
	for (const usual of ['-created_at', ['-created_at']]) {
		expect(listWith(query('sort', { default: usual })).sort?.default).toBe('-created_at');
	}
	expect(listWith(query('sort', {})).sort?.default).toBeUndefined();
});

test('a document is read once for each record type, however many executions ask', () => {
	const [document, other] = ['get', 'post'].map((verb) => documentWith({ '/v1/contacts': { [verb]: {} } })) as [
		OpenApiDocument, OpenApiDocument,
	];
	expect(describeResource(document, '/contacts')).toBe(describeResource(document, '/contacts'));
	expect(describeResource(document, '/contacts')?.create).toBeUndefined();
	expect(describeResource(other, '/contacts')?.create).toBeDefined();
});

const zone = 'Europe/Berlin';

test.each<[kind: Field['kind'], value: unknown, converted: unknown]>([
	['date', [DateTime.fromISO('2026-03-01T12:00', { zone }), '2026-03-02'], ['2026-03-01', '2026-03-02']],
	['number', ['1', 2], [1, 2]],
	['boolean', ['true', false], [true, false]],
	['list', ['A', 'B'], ['A', 'B']],
])('a filter by several values of a custom field converts each like one value: %s', (kind, value, converted) => {
	const field = fieldNamed('custom_fields.x', { kind, customType: 'of_test' });
	const [filter] = allFilters({ filters: [] as Field[], customLists: ['of_test'] } as ListDescription, [field]);
	expect(apiValue(filter!, value, zone)).toEqual(converted);
});
