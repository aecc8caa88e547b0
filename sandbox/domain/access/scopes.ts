import { customObjects } from '../../core/schemas/custom-objects.ts';
import { resources } from '../../core/schemas/index.ts';
import type { Job } from '../../core/schemas/jobs.ts';
import { capital } from '../../core/schemas/names.ts';
import type { Role } from '../../core/store/credentials/members.ts';

/**
 * Definitions of custom objects have a scope of their own; the scopes of `custom-objects` are about records.
 * Reading the records includes reading the definitions, without which a form could not show them.
 */
const defineObjects = `${customObjects.name}:define`;

/** Permanent deletion has a scope of its own, whatever the record type. */
export const eraseRecords = 'records:erase';

/**
 * Every scope with the permission that the user is asked for: two for each record type, one for
 * events, one for definitions of custom objects, one for permanent deletion.
 */
export const scopes: ReadonlyMap<string, string> = new Map([
	...resources.flatMap(({ name }): Array<[string, string]> => {
		const isObjects = name === customObjects.name;
		const records = isObjects ? 'records of custom objects' : name.replaceAll('-', ' ');
		return [
			[`${name}:read`, `Read ${records}`],
			[`${name}:write`, `Create, change and delete ${records}`],
		];
	}),
	[eraseRecords, 'Erase records permanently'],
	[defineObjects, 'Define, change and delete custom objects'],
	['jobs:read', 'Read jobs and their results'],
	['jobs:write', 'Start and cancel jobs'],
	['webhooks:read', 'Read webhooks and their deliveries'],
	['webhooks:write', 'Create, change and delete webhooks'],
	['events:read', 'Read events of the records that the other scopes give access to'],
]);

/** The default scopes of a client that asks for none (RFC 6749, 3.3). */
export const defaultScopes: string[] = [...scopes.keys()].filter((scope) => scope.endsWith(':read'));

/** The scopes that only administrators can grant. */
export const administrativeScopes: readonly string[] = [
	...resources.filter(({ isAdministrative }) => isAdministrative).map(({ name }) => `${name}:write`),
	defineObjects,
	eraseRecords,
];

/**
 * The scopes that a user with this role can grant. Tokens are checked against them on every request, so
 * a user who loses the role also loses the scopes.
 */
export function grantableScopes(role: Role, requested: readonly string[]): string[] {
	if (role === 'admin') return [...requested];
	const isForViewers = (scope: string) => scope.endsWith(':read');
	return requested.filter((scope) => role === 'viewer' ? isForViewers(scope) : !administrativeScopes.includes(scope));
}

export type Access = 'read' | 'write';

/** Scopes for people: `Contacts` with read and write. */
export function accessByRecords(requested: readonly string[]): Map<string, string[]> {
	const groups = new Map<string, string[]>();
	for (const scope of requested) {
		const [name = '', access = ''] = scope.split(':');
		const records = capital(name.replaceAll('-', ' '));
		groups.set(records, [...(groups.get(records) ?? []), access]);
	}
	return groups;
}

/**
 * The scope for a resource. The records of all custom objects share one, because objects differ by account.
 *
 * @param resource its name or its path, without `/v1`
 */
export function scopeOf(resource: string, access: Access): string {
	const [name, , ofObject] = resource.split('/');
	const isDefined = name === customObjects.name && access === 'write' && ofObject !== 'records';
	return isDefined ? defineObjects : `${name}:${access}`;
}

/** Safe methods (RFC 9110, 9.2.1). */
export const safeMethods = ['GET', 'HEAD', 'OPTIONS'];

/**
 * The scope that a request needs: `contacts:write`.
 *
 * @param path with or without `/v1`
 * @returns null if any token will do; undefined if no scope covers the path, so that tokens are refused
 * by default
 */
export function scopeFor(method: string, path: string): string | null | undefined {
	const resource = path.replace(/^\/(v1\/)?/, '');
	const isRead = safeMethods.includes(method);
	if (resource === 'account' || (isRead && resource === 'users/me')) return null;
	const scope = scopeOf(resource, isRead ? 'read' : 'write');
	return scopes.has(scope) ? scope : undefined;
}

/**
 * The scope for the records of a job, required in addition to the scope for jobs, so that a job
 * cannot bypass the scopes for records.
 */
export const scopeForRecordsOf = ({ resource, operation }: Pick<Job, 'resource' | 'operation'>) =>
	scopeOf(resource, operation === 'export' ? 'read' : 'write');

/**
 * Parses a space-separated list of scopes.
 *
 * @returns each scope once; undefined if one of them is not among `allowed`
 */
export function parseScopes(text: string, allowed: Iterable<string>): string[] | undefined {
	const allowedScopes = new Set(allowed);
	const requested = [...new Set(text.split(' ').filter(Boolean))];
	return requested.length > 0 && requested.every((scope) => allowedScopes.has(scope)) ? requested : undefined;
}
