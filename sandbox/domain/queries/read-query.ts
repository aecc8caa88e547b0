import type { z } from 'zod/v4';
import { explainIssue } from '../../core/foundation/field-errors.ts';
import { invalidParameter, type Problem } from '../../core/foundation/problem.ts';
import { type JsonSchema, jsonSchema } from '../../core/schemas/json-schema.ts';

/**
 * The values of query parameters, converted by their schema. Other parameters are ignored.
 *
 * @throws Problem invalid_parameter
 */
export function readQuery<T extends z.ZodObject>(schema: T, queryTexts: Map<string, string>): z.output<T> {
	const properties = Object.entries(jsonSchema(schema, 'input').properties ?? {});
	const entries = properties.flatMap(([name, property]) => {
		const text = queryTexts.get(name);
		return text === undefined ? [] : [[name, typedText(property, text)]];
	});
	const { data, error } = schema.safeParse(Object.fromEntries(entries));
	if (!error) return data;
	const [name] = error.issues[0]!.path as [string];
	const text = queryTexts.get(name);
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
