import { type Contact, firstSince } from './contacts.ts';

/** A request to a service. */
export interface ServiceRequest {
	method: string;
	path: string;
	query: URLSearchParams;
	/** Empty if there was none. */
	body: Body;
}

/** The bodies of all nodes together. */
export interface Body extends Record<string, unknown> {
	/** A batch of the CRM Platform. */
	items?: Array<{ id?: string }>;
	/** Airtable: of a new row, and of changed ones. */
	fields?: object;
	records?: Array<{ fields: object }>;
}

/** A service's response: a value, or a page of its contacts. */
export type ServiceResponse = { status?: number; json?: unknown } | PageOf;

/** Contacts from a number on, before another, in an envelope. */
interface PageOf {
	from: number;
	before: number;
	/** @returns the parts of the response before and after the records, which are joined by commas */
	envelope(page: { next: number | undefined }): [string, string];
	size: number;
}

/** One service: its host, and the part of its API that its node uses. */
export interface Service {
	host: string;
	/** A contact as the service's lists show it. */
	record(contact: Contact): object;
	/** @param count how many contacts the service has */
	respond(request: ServiceRequest, count: number): ServiceResponse;
}

const crm: Service = {
	host: 'api.crm.example',
	record: (contact) => ({
		id: `con_${contact.number}`,
		object: 'contact',
		first_name: contact.firstName,
		last_name: contact.lastName,
		email: contact.email,
		phone: contact.phone,
		job_title: contact.jobTitle,
		created_at: contact.createdAt,
		updated_at: contact.createdAt,
	}),
	respond({ method, path, query, body }, count) {
		const stored = (id: string, fields: object) => ({
			...{ id, object: 'contact', ...fields },
			...{ created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' },
		});
		const [, , , second] = path.split('/');
		if (second === 'batch') {
			const results = body.items!.map((item, index) => {
				const id = item.id ?? `con_${index}`;
				if (path.endsWith('/delete')) return { index, id, status: 204 };
				return { index, id, status: path.endsWith('/create') ? 201 : 200, data: stored(id, item) };
			});
			return { status: 207, json: { results } };
		}
		if (method === 'DELETE') return { status: 204 };
		if (method === 'PATCH') return { json: stored(second!, body) };
		if (method === 'POST') return { status: 201, json: stored('con_1', body) };
		const since = query.get('created_at[gte]');
		const until = query.get('created_at[lt]');
		const first = since ? Math.min(firstSince(Date.parse(since)), count + 1) : 1;
		const before = until ? Math.min(firstSince(Date.parse(until)), count + 1) : count + 1;
		return {
			from: Number(query.get('cursor') || first),
			before,
			size: Number(query.get('limit') ?? 50),
			envelope: ({ next }) => [
				'{"data":[',
				`],"next_cursor":${next ? `"${next}"` : null},"total":${Math.max(0, before - first)}}`,
			],
		};
	},
};

const hubspot: Service = {
	host: 'api.hubapi.com',
	record: (contact) => ({
		vid: contact.number,
		properties: {
			firstname: { value: contact.firstName },
			lastname: { value: contact.lastName },
			email: { value: contact.email },
			phone: { value: contact.phone },
			jobtitle: { value: contact.jobTitle },
			createdate: { value: contact.createdAt },
		},
	}),
	respond({ method, path, query }, count) {
		if (method === 'POST') return { json: { vid: 1, isNew: true } };
		if (method === 'DELETE') return { json: { vid: 1, deleted: true, reason: 'OK' } };
		if (path.endsWith('/profile')) return { json: { vid: 1, properties: {} } };
		return {
			from: Number(query.get('vidOffset') || 1),
			before: count + 1,
			size: Math.min(100, Number(query.get('count') ?? 20)),
			envelope: ({ next }) => [
				'{"contacts":[',
				`],"has-more":${next !== undefined},"vid-offset":${next ?? 0}}`,
			],
		};
	},
};

const airtable: Service = {
	host: 'api.airtable.com',
	record: (contact) => ({
		id: `rec${contact.number}`,
		createdTime: contact.createdAt,
		fields: {
			first_name: contact.firstName,
			last_name: contact.lastName,
			email: contact.email,
			phone: contact.phone,
			job_title: contact.jobTitle,
		},
	}),
	respond({ method, query, body }, count) {
		if (method === 'DELETE') return { json: { id: 'rec1', deleted: true } };
		const stored = (fields: object) => ({ id: 'rec1', createdTime: '2026-01-01T00:00:00Z', fields });
		if (method === 'POST') return { json: stored(body.fields!) };
		if (method === 'PATCH') return { json: { records: [stored(body.records![0]!.fields)] } };
		return {
			from: Number(query.get('offset') || 1),
			before: count + 1,
			size: Number(query.get('pageSize') ?? 100),
			envelope: ({ next }) => ['{"records":[', next ? `],"offset":"${next}"}` : ']}'],
		};
	},
};

/** The same service under the hosts of HTTP Request and the bare loop, so that they are counted separately. */
const crmOf = (host: string): Service => ({ ...crm, host });

export const services: Service[] = [
	...[crm, crmOf('api.http-request.example'), crmOf('api.bare-loop.example')],
	...[hubspot, airtable],
];

/** Whether a response is a page. */
export const isPage = (reply: ServiceResponse): reply is PageOf => 'envelope' in reply;

