import { z } from 'zod/v4';
import { createApp } from '../../sandbox/app.ts';
import { csrfToken } from '../../sandbox/web/sign-in/session.ts';
import { resources } from '../../sandbox/core/schemas/index.ts';
import type { StoredRecord } from '../../sandbox/core/schemas/resource.ts';
import { demoMembers } from '../../sandbox/seed/demo-members.ts';
import { seed } from '../../sandbox/seed/seed.ts';
import { Store } from '../../sandbox/core/store/store.ts';
import { valuesOf } from '../sandbox/harness/record-writes.ts';

type Json = ReturnType<typeof JSON.parse>;

/** The result for a route, which is printed as a line of JSON. */
export interface Soaked {
	route: string;
	/** Bytes of heap that each further request has left behind; of few requests, on the average of all routes. */
	bytes: number;
	/** Schemas that zod's registry has got. */
	schemas: number;
	statuses: number[];
}

/**
 * Sends requests of every route that the app has, in a process of its own with `--expose-gc`: some to fill
 * caches, and then many, after which the heap has to be what it was.
 */
const [few = 0, many = 0] = process.argv.slice(2).map(Number);
const store = new Store(':memory:');
seed(store, 60);
store.apiKeys.add('key_soak', 'soak-key');
const app = createApp({ store, requestsPerMinute: 1_000_000_000 });
const admin = demoMembers.find(({ role }) => role === 'admin')!;
const token = store.sessions.open(admin.id, Date.now());
const csrf = csrfToken({ token, member: store.members.find(admin.id)! });
const signedIn = { Authorization: 'Bearer soak-key', Cookie: `crm_session=${token}` };
const send = (method: string, path: string, body?: string, type = 'application/json') =>
	app.request(path, {
		method,
		headers: { ...signedIn, ...(body !== undefined && { 'Content-Type': type }) },
		...(body !== undefined && { body }),
	});
const description = (await (await send('GET', '/openapi.json')).json()) as Json;
const machines = store.table('custom-objects/machines/records')!.resource;
const first = (resource: string) => store.table(resource)?.findAll([], 1)[0]?.id ?? 'none';
const fixtures = { contactId: first('contacts'), tagId: first('tags'), machine: { primary_field: 'serial_number' } };
const webhook = (await (
	await send('POST', '/v1/webhooks', JSON.stringify({ url: 'https://n8n.example/x', events: ['*'], status: 'paused' }))
).json()) as StoredRecord;
await send('POST', '/v1/jobs?resource=contacts&operation=export');

let count = 0;
const form = (fields: Record<string, string>) => new URLSearchParams({ csrf, form: `${count++}`, ...fields }).toString();

/** The resource whose records a path is about. */
const resourceOf = (path: string) =>
	path.startsWith(`/v1/custom-objects/:key/`)
		? machines
		: resources.find(({ name }) => path === `/v1/${name}` || path.startsWith(`/v1/${name}/`));

/** The paths of a route: of the console, one for each record type. */
function pathsOf(route: string): string[] {
	const names = route.includes(':resource') ? [...resources, machines].map(({ name }) => name) : [''];
	return names.map((name) => {
		const resource = name || resourceOf(route)?.name || /^\/v1\/([\w-]+)/.exec(route)?.[1] || '';
		const id = resource === 'webhooks' ? webhook.id : first(resource);
		return route
			.replace(':resource', name.replaceAll('/', '.'))
			.replace(':id', id)
			.replace(':key', 'machines')
			.replace(':tag_id', fixtures.tagId)
			.replace(':delivery_id', 'none')
			.replace(':action', 'win');
	});
}

const queries: Record<string, string[]> = {
	'/v1/events': ['type=contact.created,custom.machines.*', 'sequence[gt]=0&limit=1'],
	'/v1/contacts': ['custom_fields.contract_tier=gold', 'q=moreno', 'company_id=none&sort=name', 'ids=a,b'],
	'/events': ['type=contact.created'],
};

/** The required query of a request. */
function neededQuery(method: string, route: string): string {
	if (method === 'POST' && route === '/v1/jobs') return 'resource=contacts&operation=create';
	const matchOn = Object.keys(resourceOf(route)?.unique ?? {})[0];
	return (method === 'PUT' && !route.includes('tag_id')) || route.endsWith('/upsert') ? `match_on=${matchOn}` : '';
}

/** The version of the record that a page of the console is about. */
function versionOf(path: string): string {
	const [, , resource = '', id = ''] = path.split('/');
	return `${store.table(resource.replaceAll('.', '/'))?.find(id)?.version}`;
}

/** The description's example for the operation, or a body like those of people; a new one each time. */
function bodyOf(method: string, route: string, path: string): [string?, string?] {
	if (method === 'GET' || method === 'DELETE') return [];
	if (!route.startsWith('/v1/')) return [form({ last_name: `x ${count}`, action: 'none', version: versionOf(path) }), formType];
	if (path.includes('/v1/jobs?')) return ['{"last_name":"x"}\n', 'application/x-ndjson'];
	const resource = resourceOf(route);
	const isNew = method === 'POST' && (route === `/v1/${resource?.name}` || route.endsWith('/:key/records'));
	if (resource && isNew) return [JSON.stringify(valuesOf(resource, fixtures))];
	if (resource && route.endsWith('/batch/create')) {
		return [JSON.stringify({ items: [valuesOf(resource, fixtures)] })];
	}
	const template = route.replaceAll(/:(\w+)/g, '{$1}');
	const content = description.paths[template]?.[method.toLowerCase()]?.requestBody?.content ?? {};
	const schema = content['application/json']?.schema;
	const name = schema?.$ref?.split('/').at(-1);
	const example = (name ? description.components.schemas[name] : schema)?.example;
	if (example === undefined) return [];
	const isText = method === 'PATCH' && ['description', 'job_title', 'title'].find((field) => field in example);
	// Active ones would receive the events of all further requests.
	const paused = route === '/v1/webhooks' && { status: 'paused' };
	return [JSON.stringify(isText ? { [isText]: `Text ${count++}` } : { ...example, ...paused })];
}

const formType = 'application/x-www-form-urlencoded';

const heap = () => {
	globalThis.gc!();
	globalThis.gc!();
	return process.memoryUsage().heapUsed;
};
const schemas = () => (z.globalRegistry as unknown as { _map: Map<unknown, unknown> })._map.size;

/** A route with one of its paths, and the outcome of its requests. */
interface MeasuredRequest {
	method: string;
	route: string;
	path: string;
	schemas: number;
	statuses: Set<number>;
}

async function ask(request: MeasuredRequest, times: number): Promise<void> {
	const { method, route, path, statuses } = request;
	for (let i = 0; i < times; i++) {
		const response = await send(method, path, ...bodyOf(method, route, path));
		await response.arrayBuffer();
		statuses.add(response.status);
		// Work that requests leave to later turns.
		if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
	}
}

/**
 * Sends enough requests to see how much memory stays.
 *
 * @returns bytes of heap that each further request has left behind
 */
async function soak(group: MeasuredRequest[]): Promise<number> {
	for (const request of group) await ask(request, few);
	let bytes = Infinity;
	// Once more if the collector was late.
	for (let round = 0; round < 2 && bytes > 200; round++) {
		const start = heap();
		for (const request of group) {
			const before = schemas();
			await ask(request, many - few);
			request.schemas += schemas() - before;
		}
		bytes = Math.min(bytes, (heap() - start) / (many - few));
	}
	return bytes;
}

const isAsked = ({ method, path }: { method: string; path: string }) =>
	method !== 'ALL' &&
	!path.includes('*') &&
	// A password takes 200 ms.
	!(method === 'POST' && path === '/sign-in') &&
	// Signing out ends the session.
	path !== '/sign-out';
const order = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'];
const routes = [...new Map(app.routes.filter(isAsked).map((route) => [`${route.method} ${route.path}`, route])).values()]
	.toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method));
const requests = routes.flatMap(({ method, path: route }) =>
	pathsOf(route).flatMap((path) => {
		const extra = method === 'GET' ? (queries[route] ?? []) : [];
		return [neededQuery(method, route), ...extra].map((query): MeasuredRequest => {
			return { method, route, path: query ? `${path}?${query}` : path, schemas: 0, statuses: new Set() };
		});
	}),
);
// To collect garbage after each route takes longer than some requests of each.
const groups = many >= 500 ? requests.map((request) => [request]) : [requests];
for (const group of groups) {
	const bytes = (await soak(group)) / group.length;
	for (const { method, path, schemas: schemaCount, statuses } of group) {
		const soaked: Soaked = { route: `${method} ${path}`, bytes, schemas: schemaCount, statuses: [...statuses] };
		// The process must not end before the line is written.
		await new Promise<void>((done) => process.stdout.write(`${JSON.stringify(soaked)}\n`, () => done()));
	}
}
store.close();
process.exit();
