import * as fc from 'fast-check';

import { describeResource } from '../../nodes/CrmPlatform/api/openapi/description';
import { isSafePattern } from '../../nodes/CrmPlatform/base/pattern';
import { randomRuns } from '../support/random-runs.ts';
import { documentWith, json } from './described-document.ts';

/** Reads all there is to say of the contacts of a document: if that took a step for each path through it, it would not end. */
function cost(schemas: object, body: object, more: object = {}) {
	const get = { responses: { 200: json({ properties: { data: { type: 'array', items: body } } }) } };
	const document = documentWith({ '/v1/contacts': { get, post: { requestBody: json(body) } }, ...more }, { schemas });
	const description = describeResource(document, '/contacts')!;
	return { description, read: JSON.stringify(description) };
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
const named = (count: number, schema: (i: number) => object) => Object.fromEntries(upTo(count).map((i) => [`S${i}`, schema(i)]));

describe('the work grows with the description, not with the number of paths through it:', () => {
	const everyOther = (count: number) => Object.fromEntries(upTo(count).map((i) => [`p${i}`, ref(`S${i}`)]));

	test('30 objects that all refer to each other', () => {
		const { description } = cost(named(30, () => ({ type: 'object', properties: everyOther(30) })), ref('S0'));
		expect(description.create?.fields).toHaveLength(900);
	});

	test('diamonds, 60 levels deep', () => {
		const level = (i: number) => (i === 59 ? { properties: { end: { type: 'string' } } } : { allOf: [ref(`S${i + 1}`), ref(`S${i + 1}`)] });
		expect(cost(named(60, level), ref('S0')).description.create?.fields.map(({ name }) => name)).toEqual(['end']);
	});

	test('endlessly nested schemas are refused', () => {
		expect(() => cost(named(3_000, (i) => ({ allOf: [ref(`S${i + 1}`)] })), ref('S0'))).toThrow(/more than 100 levels deep.* rule 18 /);
	});
});

/** Schemas that refer to each other at random. */
const graphs = fc.array(
	fc.record({
		kind: fc.constantFrom('allOf', 'anyOf', 'oneOf', 'properties', 'items', 'ref'),
		to: fc.array(fc.nat(11), { minLength: 1, maxLength: 12 }),
		title: fc.boolean(),
	}),
	{ minLength: 12, maxLength: 12 },
);

test('however schemas refer to each other, reading them ends soon', () => {
	fc.assert(
		fc.property(graphs, (graph) => {
			const schemas = named(12, (i) => {
				const { kind, to, title } = graph[i]!;
				const refs = to.map((target) => ({ ...ref(`S${target}`), ...(title && { title: 'T' }) }));
				if (kind === 'properties') return { type: 'object', properties: Object.fromEntries(refs.map((reference, k) => [`p${k}`, reference])) };
				if (kind === 'items') return { type: 'array', items: refs[0] };
				return kind === 'ref' ? refs[0]! : { [kind]: refs, properties: { ownProperty: { type: 'string' } } };
			});
			expect(cost(schemas, ref('S0')).read).toContain('fields');
		}),
		randomRuns(200),
	);
});

const slowPatterns = [
	'(a+)+$', '^(\\w+\\s?)*$', '(a|a)*b', '^(([a-z])+.)+$', '(x+x+)+y', '\\w*\\w*\\w*\\w*\\w*z', '(a?){30}a{30}', '^(-[a-z-]+)*$',
	'^((-[a-z]+)*)*$', '(', '(.)\\1',
];
test.each(slowPatterns)(
	'a pattern that may never finish is left out: %s',
	(pattern) => expect(isSafePattern(pattern)).toBe(false),
);
const fastPatterns = [
	'^con_[0-9a-z]{26}$', '^\\+[1-9]\\d{6,14}$', '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', '^[^@\\s]+@[^@\\s]+$', '^(a|b)$',
	'^(?:[0-9a-f]{2}){16}$', '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$',
];
test.each(fastPatterns)('an ordinary pattern is read: %s', (pattern) => expect(isSafePattern(pattern)).toBe(true));
