import { Hono, type Context } from 'hono';

import { bearer, idempotency, rateLimit } from './access-control.ts';
import { Collection } from './collection.ts';
import { secondDocument } from './description/document.ts';
import { company, contact } from './record-types.ts';
import { addPeople } from './people.ts';
import { Refusal } from './refusal.ts';

/** One request the service received, for tests that look at what a client sends. */
export interface ReceivedRequest {
	method: string;
	path: string;
	query: Record<string, string>;
	headers: Record<string, string>;
}

/** The service as a value; every request it receives is added to `requests`. */
export function createApp(options: {
	apiKey: string;
	people: number;
	requests: ReceivedRequest[];
}): Hono {
	const companies = new Collection(company);
	const contacts = new Collection(contact, { companies });
	addPeople(options.people, contacts, companies);

	const app = new Hono();
	app.onError((error, c) => {
		if (!(error instanceof Refusal)) throw error;
		return c.json(error.body, error.status);
	});
	app.notFound((c) => c.json(new Refusal(404, 'no_such_address', 'Nothing is here.').body, 404));
	app.use(async (c, next) => {
		const { method, path } = c.req;
		options.requests.push({ method, path, query: c.req.query(), headers: c.req.header() });
		await next();
	});
	app.use(rateLimit());
	app.get('/openapi.json', (c) => c.json(secondDocument));
	app.use('/v1/*', bearer(options.apiKey), idempotency());
	addRoutes(app, contacts);
	addRoutes(app, companies);
	return app;
}

function addRoutes(app: Hono, collection: Collection) {
	const collectionPath = `/v1/${collection.recordType.path}`;
	const recordPath = `${collectionPath}/:id`;
	app.get(collectionPath, (c) => c.json(collection.list(queryOf(c))));
	app.post(collectionPath, async (c) => {
		queryOf(c, []);
		return c.json(collection.create(await bodyOf(c)), 201);
	});
	app.put(collectionPath, async (c) => {
		const { key } = queryOf(c, ['key']);
		const { record, created } = collection.upsert(key, await bodyOf(c));
		return c.json(record, created ? 201 : 200);
	});
	app.get(recordPath, (c) => {
		queryOf(c, []);
		return c.json(collection.get(idOf(c)));
	});
	app.patch(recordPath, async (c) => {
		queryOf(c, []);
		return c.json(collection.update(idOf(c), await bodyOf(c)));
	});
	app.delete(recordPath, (c) => {
		queryOf(c, []);
		collection.delete(idOf(c));
		return c.body(null, 204);
	});
}

function idOf(c: Context): string {
	return c.req.param('id') ?? '';
}

/** The query, each parameter once; with `allowedParameters`, only those. */
function queryOf(c: Context, allowedParameters?: string[]): Record<string, string> {
	for (const [name, values] of Object.entries(c.req.queries())) {
		if (values.length > 1) {
			throw new Refusal(400, 'bad_parameter', `${name} must be given once.`);
		}
		if (allowedParameters && !allowedParameters.includes(name)) {
			throw new Refusal(400, 'unknown_parameter', `There is no parameter ${name}.`);
		}
	}
	return c.req.query();
}

async function bodyOf(c: Context): Promise<Record<string, unknown>> {
	if (!c.req.header('content-type')?.startsWith('application/json')) {
		throw new Refusal(415, 'not_json', 'Send JSON with Content-Type: application/json.');
	}
	const body: unknown = await c.req.json().catch(() => undefined);
	if (typeof body !== 'object' || body === null || Array.isArray(body)) {
		throw new Refusal(400, 'not_json', 'The body must be a JSON object.');
	}
	return body as Record<string, unknown>;
}
