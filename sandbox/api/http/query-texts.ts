import type { Context } from 'hono';
import { invalidParameter } from '../../core/foundation/problem.ts';

/**
 * The query parameters as they stand in the URL.
 *
 * @throws Problem invalid_parameter if a parameter is repeated
 */
export function singleQueryTexts(c: Context): Map<string, string> {
	const { searchParams } = new URL(c.req.url);
	const [repeated] = repeatedNames(searchParams);
	if (repeated === undefined) return new Map(searchParams);
	throw invalidParameter(repeated, `${repeated} is repeated. Send it once.`);
}

/** The names of repeated parameters, found in one pass. */
export function repeatedNames(query: URLSearchParams): string[] {
	const seen = new Set<string>();
	const repeated = new Set<string>();
	for (const name of query.keys()) (seen.has(name) ? repeated : seen).add(name);
	return [...repeated];
}
