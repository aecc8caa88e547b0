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
	write?(description: never): unknown;
}

export const scopesFile = 'docs/reference/scopes.md';

const markers = ['<!-- operations, written by npm run contract -->', '<!-- end of operations -->'] as const;

/**
 * Fills docs/reference/scopes.md with the scopes that the contract requires for each operation.
 *
 * @throws Error if the page lacks the markers of the table
 */
export function pageWithScopes(page: string, contract: SecuredContract, resources: SecuredMenu[]): string {
	return fillSection(page, markers, scopesTable(contract, resources));
}

function scopesTable(contract: SecuredContract, resources: SecuredMenu[]): string {
	const rows = resources.flatMap(({ name, path, operations }) => {
		// An API request needs the scopes of its path.
		if (path === '/') return [`| ${name} | Send | those of the request it sends |`];
		if (operations.some(({ option }) => option.value === 'undo')) return [`| ${name} | Undo | \`events:read\`, and both scopes of the records |`];
		const isAboutPerson = operations.some(({ option }) => option.value === 'erase');
		if (isAboutPerson) return [`| ${name} | Erase, Export | \`events:read\` and the read scopes of all records; to erase, also their write scopes and \`records:erase\` |`];
		const scopesOf = (operation: SecuredOperation) =>
			requestsOf(operation, path).flatMap(([method, at]) => scopesAt(contract, method, at));
		const byScopes = new Map<string, string[]>();
		for (const operation of operations) {
			const scopes = [...new Set(scopesOf(operation))].join('`, `');
			byScopes.set(scopes, [...(byScopes.get(scopes) ?? []), operation.option.name]);
		}
		return [...byScopes].map(
			([scopes, names]) => `| ${name} | ${names.join(', ')} | ${scopes ? `\`${scopes}\`` : 'none'} |`,
		);
	});
	return ['| Resource | Operations | Scopes |', '|---|---|---|', ...rows].join('\n');
}

/** @throws Error if the contract has no such request */
function scopesAt(contract: SecuredContract, method: string, path: string): string[] {
	const request = pathItemAt(contract.paths, path)?.[method];
	if (!request) throw new Error(`The contract has no ${method} ${path}.`);
	return (request.security ?? []).flatMap(({ oauth2 = [] }) => oauth2);
}

type Request = [method: string, path: string];

/** The requests of an operation on the records of a path that need different scopes. */
function requestsOf({ option: { value }, write }: SecuredOperation, path: string): Request[] {
	// Operations with files use a background job and read its results.
	const jobs: Request[] = [['post', '/jobs'], ['get', '/jobs/{}/results']];
	if (value === 'exportFile') return [['get', path], ...jobs];
	if (value === 'getTimeline') return [path, '/deals', '/activities', '/messages', '/notes', '/tasks', '/tickets'].map((at) => ['get', at]);
	if (value === 'getCurrent') return [['get', `${path}/me`]];
	// The decision arrives by webhook; the event log says who completed the task.
	if (value === 'sendAndWait') return [['post', path], ['get', path], ['post', '/webhooks'], ['get', '/events']];
	if (!write) return [['get', path]];
	const requests = writesOf(write).map(([method, step]): Request => [method, `${path}${step}`]);
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
function writesOf(write: (description: never) => unknown): Request[] {
	const found: Request[] = [];
	const nothing = { fields: [] };
	const actions = new Proxy({}, { get: (_, step) => (found.push(['post', `/{}/${String(step)}`]), nothing) });
	const description = new Proxy(
		{},
		{
			get: (_, name) => {
				if (name === 'actions') return actions;
				const request = writes[String(name)];
				if (request) found.push(request);
				return nothing;
			},
		},
	);
	write(description as never);
	return found;
}
