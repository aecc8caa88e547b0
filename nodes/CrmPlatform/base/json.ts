import type { IDataObject } from 'n8n-workflow';

import { withExactNumbers } from './numbers';

/** Undefined if the text is not JSON. A number that JavaScript cannot represent exactly becomes text. */
export function parseJson(text: string): unknown {
	try {
		const value: unknown = JSON.parse(text);
		const exact = withExactNumbers(text);
		return exact === text ? value : JSON.parse(exact);
	} catch {
		return undefined;
	}
}

/**
 * What a value is if its text may be JSON, as from a user, a model or a file: undefined for a text that is not JSON.
 *
 * @throws Error in the user's words if an object has a name twice: JavaScript would take the last value
 */
export function parsedValue(value: unknown): unknown {
	if (typeof value !== 'string') return value;
	const parsed = parseJson(value);
	const name = parsed === undefined ? undefined : repeatedName(value);
	if (name !== undefined) throw new Error(`The JSON has the name “${name}” twice in one object. Remove the wrong one.`);
	return parsed;
}

/** @param json well-formed */
function repeatedName(json: string): string | undefined {
	const levels: Array<Set<string>> = [];
	for (const [token, text = '', colon] of json.matchAll(/[{[\]}]|("(?:[^"\\]|\\.)*")(\s*:)?/g)) {
		if (token === '{' || token === '[') levels.push(new Set());
		else if (token === '}' || token === ']') levels.pop();
		else if (colon !== undefined) {
			const name = JSON.parse(text) as string;
			const names = levels.at(-1)!;
			if (names.has(name)) return name;
			names.add(name);
		}
	}
	return undefined;
}

/** The values of newline-delimited JSON; undefined if a line is not JSON. */
export function parseLines(text: string): unknown[] | undefined {
	const values = text.split('\n').filter((line) => line.trim() !== '').map(parseJson);
	return values.includes(undefined) ? undefined : values;
}

export function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The values within a value, at any depth, that are neither objects nor lists. */
export const scalarsIn = (value: unknown): unknown[] =>
	typeof value === 'object' && value !== null ? Object.values(value).flatMap(scalarsIn) : [value];

/** An id as text, since services write the same id as a whole number or as text (rule 3); undefined if it is neither. */
export const idText = (id: unknown): string | undefined =>
	(typeof id === 'string' && id !== '') || Number.isInteger(id) ? String(id) : undefined;

export const possibleIdsIn = (value: unknown): string[] => scalarsIn(value).flatMap((scalar) => idText(scalar) ?? []);

/** A value as text that does not depend on the order of members. */
export const canonicalText = (value: unknown): string =>
	JSON.stringify(value ?? null, (_, member: unknown) =>
		typeof member === 'object' && member !== null && !Array.isArray(member)
			? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
			: member,
	);

export const hasSameValue = (a: unknown, b: unknown): boolean => canonicalText(a) === canonicalText(b);
