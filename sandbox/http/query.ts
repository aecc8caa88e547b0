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
	for (const name of searchParams.keys()) {
		if (searchParams.getAll(name).length > 1) {
			throw invalidParameter(name, `${name} is repeated. Send it once.`);
		}
	}
	return new Map(searchParams);
}

export function unknownParameter(name: string): Problem {
	const detail = `There is no query parameter ${name} here.`;
	return new Problem('unknown_parameter', detail, {
		errors: [{ parameter: name, code: 'unknown_parameter', detail }],
	});
}
