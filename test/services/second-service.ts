import { startLocalServer } from '../support/local-server.ts';
import { withWholeRequest, type WholeRequest } from '../support/whole-request.ts';

type Body = Record<string, unknown>;

const maxPageSize = 250;
const text = { type: 'string' };
const orNothing = { ...text, nullable: true };
const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
const content = (schema: string) => ({ content: { 'application/json': { schema: ref('schemas', schema) } } });
const query = (name: string, schema: object) => ({ name, in: 'query', schema });

const answer = { description: 'A contact', ...content('Contact') };
const write = (operationId: string, body?: string, parameters: object[] = []) => ({
	operationId,
	parameters: [ref('parameters', 'WriteKey'), ...parameters],
	...(body && { requestBody: ref('requestBodies', body) }),
	responses: { [operationId === 'add' ? '201' : '200']: answer },
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
		'/contacts': {
			get: {
				operationId: 'browse',
				parameters: ['After', 'PageSize', 'Order'].map((name) => ref('parameters', name)),
				responses: { '200': { description: 'Contacts', ...content('ContactPage') } },
			},
			post: write('add', 'NewContact'),
			put: write('put', 'NewContact', [{ ...query('key', { ...text, enum: ['mail'] }), required: true }]),
		},
		'/contacts/{reference}': {
			parameters: [{ name: 'reference', in: 'path', required: true, schema: text }],
			get: { operationId: 'read', responses: { '200': answer } },
			patch: write('change', 'ChangedContact'),
			delete: { ...write('remove'), responses: { '204': { description: 'Removed' } } },
		},
	},
	components: {
		parameters: {
			WriteKey: { name: 'X-Idempotency-Key', in: 'header', required: true, schema: { ...text, maxLength: 100 } },
			After: query('after', text),
			PageSize: query('page_size', { type: 'integer', minimum: 1, maximum: maxPageSize, default: 25 }),
			Order: query('order', { ...text, enum: ['family_name.asc', 'family_name.desc'] }),
		},
		requestBodies: {
			NewContact: { required: true, ...content('NewContact') },
			ChangedContact: { required: true, ...content('ContactFields') },
		},
		schemas: {
			Stamp: { type: 'object', properties: { id: { ...text, readOnly: true }, changed_at: { ...text, format: 'date-time', readOnly: true } } },
			// In OpenAPI 3.0, a nullable enumeration has to list null as well.
			Segment: { ...orNothing, enum: ['prospect', 'customer', null] },
			ContactFields: {
				type: 'object',
				properties: {
					given_name: orNothing,
					family_name: { ...text, title: 'Family name' },
					mail: { ...orNothing, format: 'email', title: 'Mail address' },
					birthday: { ...orNothing, format: 'date' },
					vip: { type: 'boolean', default: false, title: 'VIP' },
					score: { type: 'integer', minimum: 0, maximum: 100, nullable: true },
					segment: ref('schemas', 'Segment'),
				},
			},
			Contact: { allOf: [ref('schemas', 'Stamp'), ref('schemas', 'ContactFields')] },
			NewContact: { allOf: [ref('schemas', 'ContactFields'), { type: 'object', required: ['family_name'] }] },
			Page: { type: 'object', properties: { data: { type: 'array' }, next_cursor: orNothing, total: { type: 'integer' } } },
			ContactPage: {
				allOf: [ref('schemas', 'Page'), { type: 'object', properties: { data: { type: 'array', items: ref('schemas', 'Contact') } } }],
			},
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
};

function checked(body: Body): Body {
	for (const [name, value] of Object.entries(body)) {
		if (!isValid[name]?.(value) && value !== null) throw new Refusal(422, `${name} cannot be ${JSON.stringify(value)}.`);
	}
	return body;
}

/** A service with the API of the CRM under other names, which keeps its records in memory. */
export async function startSecondService(people: number) {
	const contacts = new Map<string, Body>();
	const requests: WholeRequest[] = [];
	let createdCount = 0;
	const keep = (id: string, body: Body) => {
		const contact = { ...contacts.get(id), ...checked(body), id, changed_at: new Date().toISOString() };
		contacts.set(id, contact);
		return contact;
	};
	const create = (body: Body) => keep(`record-${++createdCount}`, body);
	for (let i = 0; i < people; i++) create({ family_name: `Name ${(i * 7) % people}`, mail: `p${i}@people.example` });

	function list({ after = '0', page_size: pageSize = '25', order }: Record<string, string>) {
		const size = Number(pageSize);
		if (!(size >= 1 && size <= maxPageSize)) throw new Refusal(400, `page_size must be 1 to ${maxPageSize}.`);
		const all: Body[] = [...contacts.values()];
		const sign = order?.endsWith('.desc') ? -1 : 1;
		if (order) all.sort((a, b) => sign * (String(a['family_name']) < String(b['family_name']) ? -1 : 1));
		const end = Number(after) + size;
		return { data: all.slice(Number(after), end), next_cursor: end < all.length ? String(end) : null, total: all.length };
	}

	function answerTo({ method, url, headers, body: text }: WholeRequest): { status: number; body?: unknown } {
		if (url.pathname === '/openapi.json') return { status: 200, body: description };
		if (headers.authorization !== 'Bearer second') throw new Refusal(401, 'The API key is missing or wrong.');
		if (method !== 'GET' && !headers['x-idempotency-key']) throw new Refusal(400, 'Send X-Idempotency-Key with every write.');
		const [path, id] = /^\/v1\/contacts(?:\/([^/]+))?$/.exec(url.pathname) ?? [];
		if (path === undefined) throw new Refusal(404, `There is no ${url.pathname}.`);
		const body = text === '' ? {} : (JSON.parse(text) as Body);
		if (id === undefined) {
			if (method === 'GET') return { status: 200, body: list(Object.fromEntries(url.searchParams)) };
			const key = method === 'PUT' ? url.searchParams.get('key') : null;
			const found = key === null ? undefined : [...contacts.values()].find((contact) => contact[key] === body[key]);
			return found ? { status: 200, body: keep(String(found['id']), body) } : { status: 201, body: create(body) };
		}
		const contact = contacts.get(id);
		if (!contact) throw new Refusal(404, `There is no ${id}.`);
		if (method === 'PATCH') return { status: 200, body: keep(id, body) };
		if (method === 'GET') return { status: 200, body: contact };
		contacts.delete(id);
		return { status: 204 };
	}

	const server = await startLocalServer(withWholeRequest((request, response) => {
		requests.push(request);
		const send = (status: number, body?: unknown) =>
			response.writeHead(status, { 'content-type': 'application/json' }).end(body === undefined ? '' : JSON.stringify(body));
		try {
			const { status, body } = answerTo(request);
			send(status, body);
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			// Deliberately not the problem document of RFC 9457.
			send(error.status, { error: { message: error.message } });
		}
	}));
	return { ...server, requests };
}
