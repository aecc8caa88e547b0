import type { Condition } from '../../core/store/records/condition.ts';

/**
 * Selects the events of resources that an access token may read.
 *
 * @param scopes undefined for an API key, which may read everything
 */
export function readableWith(scopes: string[] | undefined): Condition[] {
	if (!scopes) return [];
	const readableNames = scopes.filter((scope) => scope.endsWith(':read')).map(resourceOf);
	const marks = readableNames.map(() => '?').join();
	const name = "substr(resource, 1, instr(resource || '/', '/') - 1)";
	return [{ sql: `${name} IN (${marks})`, values: readableNames }];
}

const resourceOf = (scope: string): string => scope.replace(/:read$/, '');

/** Selects the events that one of the patterns matches. The patterns are valid for SQLite's GLOB. */
export const typeCondition = (patterns: string[]): Condition => ({
	sql: patterns.map(() => 'type GLOB ?').join(' OR '),
	values: patterns,
});
