import type { Context } from 'hono';
import { invalidParameter, Problem } from '../foundation/problem.ts';

/**
 * The query parameters of a request that may have these and no others.
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

/** @throws Problem invalid_parameter if a parameter is there twice */
export function singleQueryValues(c: Context): Map<string, string> {
	const { searchParams } = new URL(c.req.url);
	for (const name of searchParams.keys()) {
		if (searchParams.getAll(name).length > 1) {
			throw invalidParameter(name, `${name} is given more than once.`);
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
