import * as fc from 'fast-check';

import { idempotencyKey, type WriteIdentity } from '../../nodes/CrmPlatform/api/http/idempotency';
import { describeResource } from '../../nodes/CrmPlatform/api/openapi/description';
import { randomRuns } from '../random-runs.ts';
import { describeContacts, documentWith, json, query } from './described-document.ts';

const identity: WriteIdentity = { instance: 'i', workflow: 'AbC123', execution: '1', node: 'n', run: 0, items: [0] };
const header = (name: string, more: object = {}) => ({ name, in: 'header', schema: { type: 'string' }, ...more });

/** The write with these header parameters. */
const withHeaders = (...parameters: object[]) => describeContacts({}, { parameters }).create;

describe('the idempotency key', () => {
	test.each([
		['X-Idempotency-TTL', header('X-Idempotency-TTL', { schema: { type: 'integer' } })],
		['Idempotency-Key-TTL as text', header('Idempotency-Key-TTL')],
		['Idempotency-Replay', header('Idempotency-Replay')],
		['Idempotent-Replayed', header('Idempotent-Replayed')],
		['Idempotency-Mode', header('Idempotency-Mode', { schema: { enum: ['strict'] } })],
		['Disable-Idempotency', header('Disable-Idempotency', { schema: { type: 'boolean' } })],
		['Original-Idempotency-Key', header('Original-Idempotency-Key')],
		['X-Idempotency-Key-Expires', header('X-Idempotency-Key-Expires', { schema: { format: 'date-time' } })],
	])('is not sent as %s, before or after the header for it', (_, other) => {
		const key = header('Idempotency-Key');
		expect(withHeaders(other, key).idempotencyHeader).toBe('Idempotency-Key');
		expect(withHeaders(key, other).idempotencyHeader).toBe('Idempotency-Key');
		expect(withHeaders(other).idempotencyHeader).toBeUndefined();
		// A required header is the key if nothing but “Original” in its name speaks against it.
		if (!/Original/.test(_)) expect(withHeaders({ ...other, required: true }).idempotencyHeader).toBeUndefined();
	});

	test.each([
		'Idempotency-Key', 'X-Idempotency-Key', 'idempotencyKey', 'X-Idempotency-Token', 'Idempotency-Id', 'X-Request-Idempotency-Key',
	])('is sent as %s', (name) => expect(withHeaders(header(name)).idempotencyHeader).toBe(name));

	test('is sent in neither of two headers that may both be for it', () => {
		expect(withHeaders(header('X-Idempotency-Key'), header('X-Idempotency-Token')).idempotencyHeader).toBeUndefined();
		const old = header('X-Idempotency-Key', { deprecated: true });
		expect(withHeaders(old, header('X-Idempotency-Token')).idempotencyHeader).toBe('X-Idempotency-Token');
		expect(withHeaders(header('Acme-Idempotency-Key', { required: true })).idempotencyHeader).toBe('Acme-Idempotency-Key');
	});

	test.each([
		'^[0-9a-f]{32}$', '^[0-9a-f]{64}$', '^[A-Za-z0-9-]{1,40}$', '^[0-9A-HJKMNP-TV-Z]{26}$', '^\\d{1,40}$', '^[0-9A-F]{32}$',
		'^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$', '^[\\w-]{22}$', '^[\\w/-]+$',
	])('has the form that the description requires: %s', (pattern) => {
		const { idempotencyHeader, idempotencyKey: format } = withHeaders(header('Idempotency-Key', { schema: { type: 'string', pattern } }));
		expect(idempotencyHeader).toBe('Idempotency-Key');
		const keys = Array.from({ length: 50 }, (_, item) => idempotencyKey({ ...identity, items: [item] }, format));
		for (const key of keys) expect(key).toMatch(new RegExp(pattern, 'u'));
		expect(new Set(keys).size).toBe(50);
		expect(idempotencyKey({ ...identity }, format)).toBe(idempotencyKey({ ...identity }, format));
	});

	test('is left out if it is optional and cannot be made, and refused if it is required', () => {
		const odd = { type: 'string', pattern: '^order-\\d{4}$' };
		expect(withHeaders(header('Idempotency-Key', { schema: odd })).idempotencyHeader).toBeUndefined();
		const { idempotencyKey: format } = withHeaders(header('Idempotency-Key', { schema: odd, required: true }));
		expect(() => idempotencyKey(identity, format)).toThrow('cannot create');
	});

	test('is as long as the description requires', () => {
		fc.assert(
			fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 40 }), (minLength, more) => {
				const maxLength = Math.max(32, minLength + more);
				const key = idempotencyKey(identity, { minLength, maxLength });
				expect(key.length).toBeGreaterThanOrEqual(minLength);
				expect(key.length).toBeLessThanOrEqual(maxLength);
			}),
			randomRuns(100),
		);
	});
});

const fields = {
	type: 'object', properties: { first_name: { type: 'string' }, email: { type: 'string' }, external_id: { type: 'string' } },
};

/** How an upsert with these query parameters takes the field to match on. */
function matchOf(parameters: object[], components: object = {}) {
	const document = documentWith({ '/v1/contacts': { get: {}, put: { parameters, requestBody: json(fields) } } }, components);
	return describeResource(document, '/contacts')?.upsert?.match;
}

describe('Match On', () => {
	const values = ['email', 'external_id'];
	const forms: Array<[string, object, string[]]> = [
		['an enumeration', { enum: values }, values],
		['constants', { oneOf: values.map((value) => ({ const: value, title: value })) }, values],
		['anyOf of constants and a pattern', { anyOf: [{ enum: values }, { type: 'string', pattern: '^custom_fields\\.' }] }, values],
		['references', { anyOf: [{ $ref: '#/components/schemas/Email' }, { $ref: '#/components/schemas/Other' }] }, values],
		['a reference', { $ref: '#/components/schemas/Both' }, values],
		['allOf', { allOf: [{ type: 'string' }, { $ref: '#/components/schemas/Both' }] }, values],
		['a list', { type: 'array', items: { enum: values } }, values],
		['free text', { type: 'string' }, []],
		['a pattern', { type: 'string', pattern: '^[a-z_]+$' }, []],
		['a default', { type: 'string', default: 'external_id' }, ['external_id']],
		['an enumeration with a default', { enum: values, default: 'external_id' }, ['external_id', 'email']],
	];
	const schemas = { Email: { const: 'email' }, Other: { oneOf: [{ enum: ['external_id'] }] }, Both: { type: 'string', enum: values } };
	const others = [
		query('mode', { enum: ['merge', 'replace'] }),
		query('fields', { type: 'array', items: { enum: ['first_name', 'email'] } }),
		query('return', { enum: ['minimal', 'full'] }),
		query('merge', { enum: ['deep', 'shallow'] }),
		query('dry_run', { type: 'boolean' }),
		query('locale', { type: 'string' }),
	];

	test.each(forms)('is found as %s, behind every other choice', (_, schema, expected) => {
		for (const name of ['match_on', 'matchBy', 'upsert_key', 'on', 'idProperty']) {
			const match = matchOf([...others, query(name, schema)], { schemas });
			expect(match).toMatchObject({ name, values: expected });
			expect(matchOf([query(name, schema), ...others], { schemas })).toEqual(match);
		}
	});

	test('left blank, is the stated default, or the first choice of a required parameter, else nothing', () => {
		const choices = { type: 'string', enum: values };
		expect(matchOf([query('match_on', choices)])).not.toHaveProperty('whenBlank');
		expect(matchOf([query('match_on', { ...choices, default: 'external_id' })])).toMatchObject({ whenBlank: 'external_id' });
		expect(matchOf([{ ...query('match_on', choices), required: true }])).toMatchObject({ whenBlank: 'email' });
	});

	test('is found by its values, whatever its name', () => {
		expect(matchOf([...others, query('duplicates', { enum: values })])).toMatchObject({ name: 'duplicates', values });
	});

	test('is not guessed', () => {
		expect(matchOf(others)).toBeUndefined();
		expect(matchOf([query('one', { enum: values }), query('two', { enum: values })])).toBeUndefined();
		expect(matchOf([query('match_on', { type: 'string' }), query('match_by', { type: 'string' })])).toBeUndefined();
	});

	test('is not sent with a batch that does not accept it', () => {
		const upsert = (batch: object[]) => {
			const requestBody = json({ properties: { items: { type: 'array', maxItems: 10, items: fields } } });
			const document = documentWith({
				'/v1/contacts': { put: { 'x-batch': 'many', parameters: [query('match_on', { enum: values })], requestBody: json(fields) } },
				'/v1/contacts/many': { post: { operationId: 'many', parameters: batch, requestBody } },
			});
			return describeResource(document, '/contacts')?.upsert?.batch;
		};
		expect(upsert([query('match_on', { enum: values })])).toBeDefined();
		expect(upsert([])).toBeUndefined();
		expect(upsert([query('matchBy', { enum: values })])).toBeUndefined();
	});
});
