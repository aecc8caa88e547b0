import type { Context } from 'hono';
import type { z } from 'zod/v4';
import { explainIssue } from '../foundation/field-errors.ts';
import { invalidParameter, Problem } from '../foundation/problem.ts';
import { type JsonSchema, jsonSchema } from '../schemas/json-schema.ts';

/**
 * The values of query parameters, converted as their schema says. Others are ignored.
 *
 * @throws Problem invalid_parameter
 */
export function readQuery<T extends z.ZodObject>(schema: T, texts: Map<string, string>): z.output<T> {
	const properties = Object.entries(jsonSchema(schema, 'input').properties ?? {});
	const given = properties.flatMap(([name, property]) => {
		const text = texts.get(name);
		return text === undefined ? [] : [[name, typedText(property, text)]];
	});
	const { data, error } = schema.safeParse(Object.fromEntries(given));
	if (!error) return data;
	const [name] = error.issues[0]!.path as [string];
	const text = texts.get(name);
	if (text !== undefined) throw invalidText(name, text, error);
	throw invalidParameter(name, `${name} is required. ${(schema.shape[name] as z.ZodType).description}`);
}

export function invalidText(name: string, text: string, { issues }: z.ZodError): Problem {
	const reasons = new Set(issues.filter(({ path }) => [undefined, name].includes(path[0] as string)).map(explainIssue));
	return invalidParameter(name, `${name} cannot be "${text}". ${[...reasons].join(' ')}`);
}

/** The text of a query parameter as the list, number or boolean that its schema expects, if it can be read as one. */
export function typedText({ type, items = {} }: JsonSchema, text: string): unknown {
	if (type === 'array') return text.split(',').map((part) => typedText(items, part));
	const isNumber = type === 'number' || type === 'integer';
	if (isNumber && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text);
	return type === 'boolean' && /^(true|false)$/.test(text) ? text === 'true' : text;
}

/** @throws Problem invalid_parameter if a parameter is repeated */
export function singleQueryValues(c: Context): Map<string, string> {
	const { searchParams } = new URL(c.req.url);
	const [repeated] = repeatedNames(searchParams);
	if (repeated === undefined) return new Map(searchParams);
	throw invalidParameter(repeated, `${repeated} is repeated. Send it once.`);
}

/** The names that occur several times, found in one pass. */
export function repeatedNames(given: URLSearchParams): string[] {
	const seen = new Set<string>();
	const repeated = new Set<string>();
	for (const name of given.keys()) (seen.has(name) ? repeated : seen).add(name);
	return [...repeated];
}

export function unknownParameter(name: string): Problem {
	const detail = `There is no query parameter ${name} here.`;
	return new Problem('unknown_parameter', detail, {
		errors: [{ parameter: name, code: 'unknown_parameter', detail }],
	});
}
