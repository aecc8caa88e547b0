import type { Context } from 'hono';
import { invalidParameter, Problem } from '../foundation/problem.ts';

/**
 * Reads the query parameters of a request.
 *
 * @throws Problem unknown_parameter, invalid_parameter
 */
export function queryParameters(c: Context, known: string[]): Map<string, string> {
	const given = singleQueryValues(c);
	for (const name of given.keys()) {
		if (!known.includes(name)) throw unknownParameter(name);
	}
	return given;
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
