import type { Context } from 'hono';
import { z } from 'zod/v4';
import { safeMethods, scopeFor } from '../../domain/access/scopes.ts';
import { invalidParameter, unknownParameter } from '../../core/foundation/problem.ts';
import { limitBody } from '../http/body.ts';
import { type Operation, type Parameter, type ResponseDescription, errors, headerRefs, jsonBody } from './responses.ts';
import { singleQueryTexts } from '../http/query-texts.ts';
import { readQuery } from '../../domain/queries/filters.ts';
import type { Route } from '../http/route.ts';
import type { Env } from '../../core/service.ts';
import { idempotencyKeyParameter, ifMatchParameter, queryParametersOf } from './parameters.ts';
import { componentRef, jsonSchema } from '../../core/schemas/json-schema.ts';
import { inputSchema } from './input-schema.ts';

/** A request, its effect and its responses. The checks and the description of the operation follow from it. */
export interface Endpoint<Q extends z.ZodObject = z.ZodObject> extends Pick<Route, 'method' | 'path' | 'middleware'> {
	id: string;
	tag: string;
	summary: string;
	description?: string;
	/** The query parameters. Others are refused. */
	query?: Q;
	/** Further query parameters; `handle` checks every text that `query` does not name. */
	filters?: () => Parameter[];
	/** The JSON body as a schema or the name of one, or a body of another form. */
	body?: z.ZodObject | string | object;
	/** Whether `If-Match` may name the expected version. */
	ifMatch?: true;
	responses: Record<number, ResponseDescription>;
	/** The statuses of errors that do not follow from the other properties. */
	errors?: number[];
	/** The credentials, if they do not follow from the path; then the query is not checked either. */
	security?: Operation['security'];
	/** The specification extensions (`x-`) of the Operation Object. */
	extensions?: () => Partial<Operation>;
	/** @param queryTexts the parameters as they stand in the URL */
	handle(c: Context<Env>, query: z.output<Q>, queryTexts: Map<string, string>): Response | Promise<Response>;
}

/** A route of the API, with its description in the OpenAPI document. */
export interface ApiRoute extends Route {
	/** Called when the document is built: descriptions are large, and requests do not need them. */
	operation(): Operation;
}

export function endpoint<Q extends z.ZodObject>(definition: Endpoint<Q>): ApiRoute {
	const { method, path, body, middleware = body === undefined ? undefined : limitBody } = definition;
	const query: Q | z.ZodObject = definition.query ?? noQuery;
	return {
		method,
		path,
		...(middleware && { middleware }),
		handler(c) {
			refuseOtherConditions(c, definition);
			if (definition.security) return definition.handle(c, {} as z.output<Q>, new Map());
			const queryTexts = singleQueryTexts(c);
			const unknown = [...queryTexts.keys()].find((name) => !Object.hasOwn(query.shape, name));
			if (unknown !== undefined && !definition.filters) throw unknownParameter(unknown);
			return definition.handle(c, readQuery(query, queryTexts) as z.output<Q>, queryTexts);
		},
		operation: () => operationOf(definition),
	};
}

const noQuery = z.object({});

function operationOf(definition: Endpoint): Operation {
	const { method, path, id, tag, summary, description, query = noQuery, filters, body, ifMatch, extensions } = definition;
	const { errors: others = [], security, responses } = definition;
	const isWrite = !safeMethods.includes(method);
	const isOpen = scopeFor(method, path) === undefined;
	const replayed = isWrite && !isOpen ? headerRefs('Idempotent-Replayed') : {};
	const successes = Object.entries(responses).map(([status, response]) => {
		return [status, { ...response, headers: { ...response.headers, ...replayed } }];
	});
	const failures = isOpen
		? [405, 500, 503, ...others]
		: [
				400,
				...others,
				...(path.includes('{') ? [404] : []),
				...(isWrite ? [409, 422] : []),
				...(ifMatch ? [412] : []),
				...(body === undefined ? [] : [413, 415]),
			];
	return {
		operationId: id,
		tags: [tag],
		summary,
		...(description !== undefined && { description }),
		parameters: [
			...queryParametersOf(query),
			...(filters?.() ?? []),
			...(ifMatch ? [ifMatchParameter] : []),
			...(isWrite && !isOpen ? [idempotencyKeyParameter] : []),
		],
		...(body !== undefined && bodyOf(definition)),
		responses: {
			...(Object.fromEntries(successes) as Operation['responses']),
			...errors(failures, path.startsWith('/oauth/') ? 'OAuth' : 'Problem'),
		},
		...(security && { security }),
		...extensions?.(),
	};
}

/** The request body; absent if it has no fields. */
function bodyOf({ body, summary }: Endpoint): Pick<Operation, 'requestBody'> {
	if (typeof body === 'string') return { requestBody: jsonBody(componentRef(body)) };
	if (!(body instanceof z.ZodObject)) return { requestBody: body! };
	const { properties = {}, required = [] } = jsonSchema(body, 'input');
	const fields = Object.entries(properties);
	const schema = inputSchema(`${summary}: the input.`, fields, required);
	return fields.length > 0 ? { requestBody: jsonBody(schema, required.length > 0) } : {};
}

/** The conditions of a write (RFC 9110, 13.1). */
const conditions = ['If-Match', 'If-None-Match', 'If-Unmodified-Since'];

/**
 * Refuses a condition that the endpoint does not take: if it were ignored, a write would overwrite what
 * the caller wants to keep.
 */
function refuseOtherConditions(c: Context<Env>, { method, ifMatch }: Endpoint): void {
	if (safeMethods.includes(method)) return;
	const [other] = conditions.slice(ifMatch ? 1 : 0).filter((name) => c.req.header(name) !== undefined);
	if (other === undefined) return;
	const detail = `${other} is not supported here, so nothing was written. Send the request without it.`;
	throw invalidParameter(other, detail);
}
