import { fillSection } from './marked-section.ts';
import { pathItemAt } from './output-schemas.ts';

/** The part of the OpenAPI document that is used here. */
export interface SecuredContract {
	paths: Record<string, Record<string, { security?: Array<Record<string, string[]>> }>>;
}

/** The part of a resource that is used here. */
export interface SecuredMenu {
	name: string;
	path: string;
	operations: SecuredOperation[];
}

interface SecuredOperation {
	option: { name: string; value: unknown };
	describedWrite?(description: never): unknown;
}

export const scopesFile = 'docs/reference/scopes.md';

const markers = ['<!-- operations, written by npm run contract -->', '<!-- end of operations -->'] as const;

/** Fills docs/reference/scopes.md with the scopes of each operation. @throws Error if the page lacks the markers of the table */
export function pageWithScopes(page: string, contract: SecuredContract, resources: SecuredMenu[]): string {
	return fillSection(page, markers, scopesTable(contract, resources));
}

/** A row for each resource with its two scopes, and one for each operation that needs others. */
function scopesTable(contract: SecuredContract, resources: SecuredMenu[]): string {
	const rows: string[] = [];
	const others = new Map([
		['API Request', 'those of the request'],
		['Undo', '`events:read`, read and write of the records'],
		['Export, Erase (Person)', '`events:read`, read of all records; to erase, also write, and `records:erase`'],
	]);
	for (const { name, path, operations } of resources) {
		if (path === '/' || operations.some(({ option }) => option.value === 'undo' || option.value === 'erase')) continue;
		const needs = operations.map((operation) => ({
			name: operation.option.name,
			scopes: [...new Set(requestsOf(operation, path).flatMap(([method, at]) => scopesAt(contract, method, at)))],
		}));
		const single = needs.filter(({ scopes }) => scopes.length === 1).map(({ scopes: [scope] }) => scope!);
		const read = single.find((scope) => scope.endsWith(':read'));
		const write = single.find((scope) => scope !== read);
		const cell = (scope?: string) => (scope ? `\`${scope}\`` : 'none');
		rows.push(`| ${name} | ${cell(read)} | ${cell(write)} |`);
		for (const { name: operation, scopes } of needs) {
			if (scopes.length === 1 && (scopes[0] === read || scopes[0] === write)) continue;
			const text = scopes.map((scope) => (scope === read ? 'read' : scope === write ? 'write' : cell(scope))).join(', ') || 'none';
			// A resource without any scope says so in its row.
			if (read) others.set((others.get(operation) ?? text) === text ? operation : `${operation} (${name})`, text);
		}
	}
	return [
		'| Resource | Read | Write |', '|---|---|---|', ...rows, '',
		'| Operation | Scopes |', '|---|---|', ...[...others].map(([operation, scopes]) => `| ${operation} | ${scopes} |`),
	].join('\n');
}

/** @throws Error if the contract has no such request */
function scopesAt(contract: SecuredContract, method: string, path: string): string[] {
	const request = pathItemAt(contract.paths, path)?.[method];
	if (!request) throw new Error(`The contract has no ${method} ${path}.`);
	return (request.security ?? []).flatMap(({ oauth2 = [] }) => oauth2);
}

type Request = [method: string, path: string];

/** The requests of an operation on the records of a path that need different scopes. */
function requestsOf({ option: { value }, describedWrite }: SecuredOperation, path: string): Request[] {
	// Operations with files use a background job and read its results.
	const jobs: Request[] = [['post', '/jobs'], ['get', '/jobs/{}/results']];
	if (value === 'exportFile') return [['get', path], ...jobs];
	if (value === 'getCurrent') return [['get', `${path}/me`]];
	// The decision arrives by webhook; the event log says who completed the task.
	if (value === 'sendAndWait') return [['post', path], ['get', path], ['post', '/webhooks'], ['get', '/events']];
	if (!describedWrite) return [['get', path]];
	const requests = writesOf(describedWrite).map(([method, step]): Request => [method, `${path}${step}`]);
	return value === 'importFile' ? [...requests, ...jobs] : requests;
}

/** The writes of a description: the method, and the path after that of the collection. */
const writes: Record<string, Request> = {
	create: ['post', ''],
	upsert: ['put', ''],
	update: ['patch', '/{}'],
	delete: ['delete', '/{}'],
	addTag: ['put', '/{}/tags/{}'],
	removeTag: ['delete', '/{}/tags/{}'],
};

/** The requests of the write that an operation finds in the API description. */
function writesOf(describedWrite: (description: never) => unknown): Request[] {
	const found: Request[] = [];
	const nothing = { fields: [] };
	const actions = new Proxy({}, { get: (_, step) => (found.push(['post', `/{}/${String(step)}`]), nothing) });
	const get = (_: object, name: string | symbol) => {
		const request = writes[String(name)];
		if (request) found.push(request);
		return name === 'recordActions' ? actions : nothing;
	};
	describedWrite(new Proxy({}, { get }) as never);
	return found;
}
