import { startLocalServer } from '../support/local-server.ts';
import { withWholeRequest, type WholeRequest } from '../support/whole-request.ts';

type Body = Record<string, unknown>;

const maxPageSize = 250;
const text = { type: 'string' };
const orNothing = { ...text, nullable: true };
const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
const content = (schema: string) => ({ content: { 'application/json': { schema: ref('schemas', schema) } } });
const query = (name: string, schema: object) => ({ name, in: 'query', schema });

/** The two paths of a record type. */
function pathsOf(path: string, singular: string, key: string, filters: string[]) {
	const answer = { description: singular, ...content(singular) };
	const write = (operationId: string, body?: string, parameters: object[] = []) => ({
		operationId: `${path}.${operationId}`,
		parameters: [ref('parameters', 'WriteKey'), ...parameters],
		...(body && { requestBody: ref('requestBodies', body) }),
		responses: { [operationId === 'add' ? '201' : '200']: answer },
	});
	return {
		[`/${path}`]: {
			get: {
				operationId: `${path}.browse`,
				parameters: [ref('parameters', 'After'), ref('parameters', 'PageSize'), ...filters.map((name) => ref('parameters', name))],
				responses: { '200': { description: path, ...content(`${singular}Page`) } },
			},
			post: write('add', `New${singular}`),
			put: write('put', `New${singular}`, [{ ...query('key', { ...text, enum: [key] }), required: true }]),
		},
		[`/${path}/{reference}`]: {
			parameters: [{ name: 'reference', in: 'path', required: true, schema: text }],
			get: { operationId: `${path}.read`, responses: { '200': answer } },
			patch: write('change', `Changed${singular}`),
			delete: { ...write('remove'), responses: { '204': { description: 'Removed' } } },
		},
	};
}

const typesOf = (singular: string, required: string, properties: object) => ({
	[`${singular}Fields`]: { type: 'object', properties },
	[singular]: { allOf: [ref('schemas', 'Stamp'), ref('schemas', `${singular}Fields`)] },
	[`New${singular}`]: { allOf: [ref('schemas', `${singular}Fields`), { type: 'object', required: [required] }] },
	[`${singular}Page`]: {
		allOf: [ref('schemas', 'Page'), { type: 'object', properties: { data: { type: 'array', items: ref('schemas', singular) } } }],
	},
});
const bodiesOf = (singular: string) => ({
	[`New${singular}`]: { required: true, ...content(`New${singular}`) },
	[`Changed${singular}`]: { required: true, ...content(`${singular}Fields`) },
});

/**
 * OpenAPI 3.0.3, as different from the sandbox's description as the standard allows: paths without the prefix, which is
 * in the server's address; parameters, bodies and schemas by reference; records composed with allOf.
 */
const description = {
	openapi: '3.0.3',
	info: { title: 'The second service', version: '1' },
	servers: [{ url: '/v1' }],
	paths: {
		...pathsOf('contacts', 'Contact', 'mail', ['Order', 'Segment', 'Mail']),
		...pathsOf('companies', 'Company', 'registration_number', []),
	},
	components: {
		parameters: {
			WriteKey: { name: 'X-Idempotency-Key', in: 'header', required: true, schema: { ...text, maxLength: 100 } },
			After: query('after', text),
			PageSize: query('page_size', { type: 'integer', minimum: 1, maximum: maxPageSize, default: 25 }),
			Order: query('order', { ...text, enum: ['family_name.asc', 'family_name.desc'] }),
			Segment: query('segment', ref('schemas', 'Segment')),
			Mail: query('mail', { ...text, format: 'email' }),
		},
		requestBodies: { ...bodiesOf('Contact'), ...bodiesOf('Company') },
		schemas: {
			Stamp: { type: 'object', properties: { id: { ...text, readOnly: true }, changed_at: { ...text, format: 'date-time', readOnly: true } } },
			Page: { type: 'object', properties: { data: { type: 'array' }, next_cursor: orNothing, total: { type: 'integer' } } },
			// In OpenAPI 3.0, a nullable enumeration has to list null as well.
			Segment: { ...orNothing, enum: ['prospect', 'customer', null] },
			...typesOf('Contact', 'family_name', {
				given_name: orNothing,
				family_name: { ...text, title: 'Family name' },
				mail: { ...orNothing, format: 'email', title: 'Mail address' },
				birthday: { ...orNothing, format: 'date' },
				vip: { type: 'boolean', default: false, title: 'VIP' },
				score: { type: 'integer', minimum: 0, maximum: 100, nullable: true },
				segment: ref('schemas', 'Segment'),
			}),
			...typesOf('Company', 'legal_name', { legal_name: text, registration_number: orNothing }),
		},
	},
};

class Refusal extends Error {
	readonly status: number;
	constructor(status: number, message: string) {
		super(message);
		this.status = status;
	}
}

/** What each field accepts. The service refuses all others. */
const isValid: Record<string, (value: unknown) => boolean> = {
	given_name: (value) => typeof value === 'string',
	family_name: (value) => typeof value === 'string',
	mail: (value) => /^\S+@\S+$/.test(String(value)),
	birthday: (value) => /^\d{4}-\d\d-\d\d$/.test(String(value)),
	vip: (value) => typeof value === 'boolean',
	score: Number.isInteger,
	segment: (value) => ['prospect', 'customer'].includes(String(value)),
	legal_name: (value) => typeof value === 'string',
	registration_number: (value) => typeof value === 'string',
};

function checked(body: Body): Body {
	for (const [name, value] of Object.entries(body)) {
		if (!isValid[name]?.(value) && value !== null) throw new Refusal(422, `${name} cannot be ${JSON.stringify(value)}.`);
	}
	return body;
}

/** A service with the API of the CRM under other names, which keeps its records in memory. */
export async function startSecondService(people: number) {
	const records = { contacts: new Map<string, Body>(), companies: new Map<string, Body>() };
	const requests: WholeRequest[] = [];
	let createdCount = 0;
	const keep = (all: Map<string, Body>, id: string, body: Body) => {
		all.set(id, { ...all.get(id), ...checked(body), id, changed_at: new Date().toISOString() });
		return all.get(id)!;
	};
	const create = (all: Map<string, Body>, body: Body) => keep(all, `record-${++createdCount}`, body);
	for (let i = 0; i < people; i++) create(records.contacts, { family_name: `Name ${(i * 7) % people}`, mail: `p${i}@people.example` });

	function list(all: Map<string, Body>, { after = '0', page_size: pageSize = '25', order, ...filters }: Record<string, string>) {
		const size = Number(pageSize);
		if (!(size >= 1 && size <= maxPageSize)) throw new Refusal(400, `page_size must be 1 to ${maxPageSize}.`);
		const found = [...all.values()].filter((record) => Object.entries(filters).every(([name, value]) => record[name] === value));
		const sign = order?.endsWith('.desc') ? -1 : 1;
		if (order) found.sort((a, b) => sign * (String(a['family_name']) < String(b['family_name']) ? -1 : 1));
		const end = Number(after) + size;
		return { data: found.slice(Number(after), end), next_cursor: end < found.length ? String(end) : null, total: found.length };
	}

	function answer({ method, url, headers, body: text }: WholeRequest): { status: number; body?: unknown } {
		if (url.pathname === '/openapi.json') return { status: 200, body: description };
		if (headers.authorization !== 'Bearer second') throw new Refusal(401, 'The API key is missing or wrong.');
		if (method !== 'GET' && !headers['x-idempotency-key']) throw new Refusal(400, 'Send X-Idempotency-Key with every write.');
		const [, path, id] = /^\/v1\/(contacts|companies)(?:\/([^/]+))?$/.exec(url.pathname) ?? [];
		if (path === undefined) throw new Refusal(404, `There is no ${url.pathname}.`);
		const all = records[path as keyof typeof records];
		const body = text === '' ? {} : (JSON.parse(text) as Body);
		if (id === undefined) {
			if (method === 'GET') return { status: 200, body: list(all, Object.fromEntries(url.searchParams)) };
			const key = method === 'PUT' ? url.searchParams.get('key') : null;
			const found = key === null ? undefined : [...all.values()].find((record) => record[key] === body[key]);
			return found ? { status: 200, body: keep(all, String(found['id']), body) } : { status: 201, body: create(all, body) };
		}
		const record = all.get(id);
		if (!record) throw new Refusal(404, `There is no ${id}.`);
		if (method === 'PATCH') return { status: 200, body: keep(all, id, body) };
		if (method === 'GET') return { status: 200, body: record };
		all.delete(id);
		return { status: 204 };
	}

	const server = await startLocalServer(withWholeRequest((request, response) => {
		requests.push(request);
		const send = (status: number, body?: unknown) =>
			response.writeHead(status, { 'content-type': 'application/json' }).end(body === undefined ? '' : JSON.stringify(body));
		try {
			const { status, body } = answer(request);
			send(status, body);
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			// Deliberately not the problem document of RFC 9457.
			send(error.status, { error: { message: error.message } });
		}
	}));
	return { ...server, requests };
}
