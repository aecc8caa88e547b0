import * as fc from 'fast-check';
import type { Json } from '../../sandbox/harness/in-process.ts';
import { junk, oddText } from './values.ts';

/** Stands for the id of a record that there is when the request is sent. */
export const idOf = (resource: string): fc.Arbitrary<string> =>
	fc.nat({ max: 20 }).map((n) => `«${resource}:${n}»`);

/** Values that mostly are as a schema of the OpenAPI document says, and partly are not. */
export function valueOf(document: Json, schema: Json): fc.Arbitrary<unknown> {
	if (schema.$ref) return valueOf(document, target(document, schema.$ref));
	return fc.oneof(
		{ weight: 14, arbitrary: asDescribed(document, schema) },
		{ weight: 1, arbitrary: junk },
	);
}

function asDescribed(document: Json, schema: Json): fc.Arbitrary<unknown> {
	const types: string[] = [schema.type ?? 'string'].flat();
	const options = types.map((type) => ofType(document, schema, type));
	return fc.oneof(...options);
}

function ofType(document: Json, schema: Json, type: string): fc.Arbitrary<unknown> {
	if (schema.enum) return fc.constantFrom(...schema.enum);
	const examples = (schema.examples ?? []) as unknown[];
	const likeExamples = (other: fc.Arbitrary<unknown>) =>
		examples.length > 0 ? fc.oneof(fc.constantFrom(...examples), other) : other;
	switch (type) {
		case 'null':
			return fc.constant(null);
		case 'boolean':
			return fc.boolean();
		case 'integer':
		case 'number':
			return likeExamples(fc.integer({ min: schema.minimum ?? -5, max: schema.maximum ?? 1000 }));
		case 'array':
			return listOf(document, schema);
		case 'object':
			return likeExamples(objectOf(document, schema));
		default:
			return textOf(schema, likeExamples);
	}
}

function textOf(
	schema: Json,
	likeExamples: (other: fc.Arbitrary<unknown>) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
	if (schema['x-resource']) return idOf(schema['x-resource']);
	if (schema.format === 'email') return fc.nat({ max: 1000 }).map((n) => `a${n}@x.example`);
	if (schema.format === 'date-time') return moment;
	if (schema.format === 'date') return moment.map((text) => text.slice(0, 10));
	return likeExamples(schema.pattern ? matching(schema.pattern) : anyText);
}

// Made once each: making one takes fast-check longer than drawing from it.
const anyText = fc.oneof(fc.string({ minLength: 1, maxLength: 20 }), oddText);
const byPattern = new Map<string, fc.Arbitrary<string>>();

function matching(pattern: string): fc.Arbitrary<string> {
	const arbitrary = byPattern.get(pattern) ?? fc.stringMatching(new RegExp(pattern));
	byPattern.set(pattern, arbitrary);
	return arbitrary;
}

const moment = fc
	.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
	.map((date) => date.toISOString());

function listOf(document: Json, schema: Json): fc.Arbitrary<unknown> {
	const inherited = schema['x-resource'] && { 'x-resource': schema['x-resource'] };
	const items = valueOf(document, { ...schema.items, ...inherited });
	return fc.array(items, { maxLength: 3 });
}

function objectOf(document: Json, schema: Json): fc.Arbitrary<unknown> {
	const properties = Object.entries<Json>(schema.properties ?? {});
	const required: string[] = schema.required ?? [];
	const members = properties.map(([name, property]) => {
		const member = valueOf(document, property).map((value): Array<[string, unknown]> => [
			[name, value],
		]);
		const left = fc.constant<Array<[string, unknown]>>([]);
		const weight = required.includes(name) ? 20 : 1;
		return fc.oneof({ weight, arbitrary: member }, { weight: 2, arbitrary: left });
	});
	return fc.tuple(...members).map((entries) => Object.fromEntries(entries.flat()));
}

const target = (document: Json, reference: string): Json =>
	reference
		.split('/')
		.slice(1)
		.reduce((parent, part) => parent[part], document);
