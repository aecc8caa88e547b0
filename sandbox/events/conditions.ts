import type { Condition } from '../store/condition.ts';

/**
 * True of the events of resources that an access token may read.
 *
 * @param scopes undefined for an API key, which may read all
 */
export function readableWith(scopes: string[] | undefined): Condition[] {
	if (!scopes) return [];
	const readableNames = scopes.filter((scope) => scope.endsWith(':read')).map(resourceOf);
	const marks = readableNames.map(() => '?').join();
	const name = "substr(resource, 1, instr(resource || '/', '/') - 1)";
	return [{ sql: `${name} IN (${marks})`, values: readableNames }];
}

const resourceOf = (scope: string): string => scope.replace(/:read$/, '');

/** True of the events that one of the patterns covers; SQLite's GLOB reads them as they are. */
export const typeCondition = (patterns: string[]): Condition => ({
	sql: patterns.map(() => 'type GLOB ?').join(' OR '),
	values: patterns,
});
