import { resources } from '../schemas/index.ts';
import type { Job } from '../schemas/jobs.ts';
import type { Role } from '../store/members.ts';

/** Two for each kind of record, one for events, with what the user is asked to allow. */
export const scopes: ReadonlyMap<string, string> = new Map([
	...resources.flatMap(({ name }): Array<[string, string]> => {
		const records = name.replaceAll('-', ' ');
		return [
			[`${name}:read`, `Read ${records}`],
			[`${name}:write`, `Create, change and delete ${records}`],
		];
	}),
	['jobs:read', 'Read jobs and their results'],
	['jobs:write', 'Start and cancel jobs'],
	['webhooks:read', 'Read webhooks and what was sent to them'],
	['webhooks:write', 'Create, change and delete webhooks'],
	['events:read', 'Read what happens to the records it may read'],
]);

/** What a client gets that asks for nothing in particular (RFC 6749, 3.3). */
export const standardScopes: string[] = [...scopes.keys()].filter((scope) => scope.endsWith(':read'));

/** What changes who works with the account, and how: only administrators can allow it. */
export const administrativeScopes: readonly string[] = [
	'users:write',
	'pipelines:write',
	'custom-fields:write',
];

/**
 * The scopes that a user with this role can allow an application, and that work as long as the user
 * has the role: a role taken back takes back what it allowed.
 */
export function grantableScopes(role: Role, asked: readonly string[]): string[] {
	if (role === 'admin') return [...asked];
	const isForViewers = (scope: string) => scope.endsWith(':read');
	return asked.filter((scope) =>
		role === 'viewer' ? isForViewers(scope) : !administrativeScopes.includes(scope),
	);
}

export type Access = 'read' | 'write';

/**
 * The scope for a resource. That of custom objects is for their records too: which objects there
 * are, the account decides.
 *
 * @param resource its name or its path, without `/v1`
 */
export const scopeOf = (resource: string, access: Access): string =>
	`${resource.split('/')[0]}:${access}`;

const reads = ['GET', 'HEAD', 'OPTIONS'];

/**
 * The scope that a request needs: `contacts:write`.
 *
 * @param path with or without `/v1`
 * @returns null if any token will do; undefined if there is no scope for this, so that no token
 * reaches what has not been thought of here
 */
export function scopeFor(method: string, path: string): string | null | undefined {
	const resource = path.replace(/^\/(v1\/)?/, '');
	const isRead = reads.includes(method);
	if (resource === 'account' || (isRead && resource === 'users/me')) return null;
	const scope = scopeOf(resource, isRead ? 'read' : 'write');
	return scopes.has(scope) ? scope : undefined;
}

/**
 * The scope that a job's records need, beside the one for jobs: with jobs alone nobody gets at
 * records, neither by a job nor by its results.
 */
export const scopeForRecordsOf = ({ resource, operation }: Pick<Job, 'resource' | 'operation'>) =>
	scopeOf(resource, operation === 'export' ? 'read' : 'write');

/**
 * Reads a list of scopes, separated by spaces.
 *
 * @returns each one once; undefined if one of them is not among `allowed`
 */
export function parseScopes(text: string, allowed: Iterable<string>): string[] | undefined {
	const known = new Set(allowed);
	const asked = [...new Set(text.split(' ').filter(Boolean))];
	return asked.length > 0 && asked.every((scope) => known.has(scope)) ? asked : undefined;
}
