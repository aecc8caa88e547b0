import type { Condition } from '../../core/store/records/condition.ts';

/**
 * Selects the events of resources that an access token may read.
 *
 * @param scopes undefined for an API key, which may read everything
 */
export function readableWith(scopes: string[] | undefined): Condition[] {
	if (!scopes) return [];
	const names = scopes.flatMap((scope) => /^(.+):read$/.exec(scope)?.[1] ?? []);
	const name = "substr(resource, 1, instr(resource || '/', '/') - 1)";
	return [{ sql: `${name} IN (${names.map(() => '?').join()})`, values: names }];
}

/** Selects the events that one of the patterns matches. The patterns are valid for SQLite's GLOB. */
export const typeCondition = (patterns: string[]): Condition => ({
	sql: patterns.map(() => 'type GLOB ?').join(' OR '),
	values: patterns,
});
