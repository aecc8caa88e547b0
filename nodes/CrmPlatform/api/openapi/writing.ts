import type { Field } from '../../fields/field';
import type { KeyFormat } from '../http/idempotency';
import { ruleBroken } from '../http/rules';
import { operationOf, readPart, type OpenApiDocument, type OpenApiOperation, type PathItem, type Schema } from './openapi';
import { pathItemAt, pathOfPost, templatesFor } from './paths';
import { flatten, jsonBody, jsonSchema, mergePatchType, parameterChoices, parametersIn } from './schema';
import { fieldsOf } from './schemaFields';
import { parameterFor } from './usualNames';

export interface WriteDescription extends IdempotencyHeader {
	method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Whether it replaces the whole record and erases fields that are not sent. */
	replaces?: true;
	/** With `replaces`: whether to send a member of the record as it was read. */
	sends?: (member: string) => boolean;
	/** Media type of the body, if it is not `application/json`. */
	contentType?: string;
	fields: Field[];
	/** Members of the record that only the service sets, if the body's description lists them. */
	readOnly?: string[];
	/** Whether the body accepts only the described members. */
	isClosed?: true;
	/** Whether the write can be made conditional on the record's version (If-Match, RFC 9110, section 13.1.1). */
	takesIfMatch?: true;
	/** Whether a deletion can be permanent: `?permanent=true` leaves only a tombstone. */
	takesPermanent?: true;
	/** Whether every described success response contains the id of the record. */
	answersId?: true;
	/** The parameter that tells an upsert by which field to find the record; absent if that is unclear. */
	match?: MatchDescription;
	/** Whether the status of a response distinguishes a created record (201) from an updated one (200). */
	tellsCreated?: true;
	batch?: BatchDescription;
	job?: JobDescription;
}

/** How one request writes many records, under a key of its own. */
export interface BatchDescription extends IdempotencyHeader {
	/** Path relative to the collection, such as `/batch/create`. */
	path: string;
	/** The member of the body that holds the records. */
	items: string;
	maximum: number;
	/** Whether the result of a written item has the id of the record. */
	answersId?: true;
	/** Whether an item can name the version it changes, so that the service refuses to change a newer one. */
	takesVersion?: true;
}

/**
 * Reads the fields, parameters and headers of a write operation.
 *
 * @param collection path of the collection in the document
 */
export function describeWrite(
	document: OpenApiDocument,
	collection: string,
	pathItem: PathItem,
	verb: 'post' | 'put' | 'patch' | 'delete',
): WriteDescription {
	const operation = operationOf(pathItem, verb) ?? {};
	const method = verb.toUpperCase() as WriteDescription['method'];
	const description: WriteDescription = { method, ...bodyOf(document, operation) };

	Object.assign(description, idempotencyHeaderOf(document, pathItem, operation));
	const headers = parametersIn(document, pathItem, operation, 'header');
	if (headers.some(({ name = '' }) => /^if-match$/i.test(name))) description.takesIfMatch = true;
	const isPermanent = verb === 'delete' && parametersIn(document, pathItem, operation, 'query').some(({ name }) => name === 'permanent');
	if (isPermanent) description.takesPermanent = true;
	const fields = description.fields.map(({ name }) => name);
	const match = verb === 'put' ? describeMatch(document, pathItem, operation, fields) : undefined;
	if (match) description.match = match;
	if (answersId(document, operation, (response) => response)) description.answersId = true;
	const { responses = {} } = operation;
	if ('200' in responses && '201' in responses) description.tellsCreated = true;
	const batch = describeBatch(document, collection, operation['x-batch'], match);
	if (batch) description.batch = batch;
	const job = describeJob(document, collection, operation, match);
	if (job) description.job = job;
	return description;
}

/**
 * Whether all described success responses contain the id of a record.
 *
 * @param recordOf the schema of the record within the schema of a response
 */
function answersId(document: OpenApiDocument, { responses = {} }: OpenApiOperation, recordOf: (response: Schema) => Schema): boolean {
	const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
	const has = ([, response]: [string, unknown]) => {
		const schema = flatten(document, jsonSchema(readPart(document, response, 'response')) ?? {});
		return recordOf(schema).properties?.id !== undefined;
	};
	return successes.length > 0 && successes.every(has);
}

function bodyOf(
	document: OpenApiDocument,
	{ requestBody }: OpenApiOperation,
): Pick<WriteDescription, 'fields' | 'readOnly' | 'isClosed' | 'contentType' | 'refusal'> {
	const described = readPart(document, requestBody, 'requestBody');
	const body = jsonBody(described);
	if (body) {
		const { properties = {}, additionalProperties } = flatten(document, body.schema);
		const readOnly = Object.keys(properties).filter((name) => flatten(document, properties[name]!).readOnly);
		return {
			fields: fieldsOf(document, body.schema),
			...(readOnly.length > 0 && { readOnly }),
			...(additionalProperties === false && { isClosed: true }),
			...(mergePatchType.test(body.type) && { contentType: body.type }),
		};
	}
	const types = Object.keys(described.content ?? {});
	// Imports send the lines of their jobs themselves.
	if (types.length === 0 || types.some((type) => /ndjson|jsonl/i.test(type))) return { fields: [] };
	return {
		fields: [],
		refusal: `The CRM only accepts ${types.join(' or ')} here, but the node sends JSON.`,
	};
}

function describeBatch(
	document: OpenApiDocument,
	collection: string,
	operationId: string | undefined,
	match: MatchDescription | undefined,
): BatchDescription | undefined {
	const path = operationId === undefined ? undefined : pathOfPost(document, operationId);
	if (!path?.startsWith(`${collection}/`)) return undefined;
	const pathItem = pathItemAt(document, path);
	const operation = pathItem && operationOf(pathItem, 'post');
	if (!operation) return undefined;
	if (match && !takesMatch(document, pathItem, operation, match)) return undefined;
	const requestBody = readPart(document, operation.requestBody, 'requestBody');
	const { properties = {} } = flatten(document, jsonSchema(requestBody) ?? {});
	for (const [items, schema] of Object.entries(properties)) {
		const { type, maxItems } = flatten(document, schema);
		// If the service states no limit, it may refuse a batch as too large.
		if (type === 'array' && maxItems !== undefined && maxItems >= 1) {
			const key = idempotencyHeaderOf(document, pathItem, operation);
			if (key.refusal !== undefined) return undefined;
			const batch: BatchDescription = { path: path.slice(collection.length), items, maximum: maxItems, ...key };
			const item = flatten(document, flatten(document, schema).items ?? {});
			if (item.properties?.version) batch.takesVersion = true;
			const inResult = ({ properties: { id, data = {} } = {} }: Schema) => (id ? { properties: { id } } : flatten(document, data));
			const results = ({ properties: { results = {} } = {} }: Schema) => flatten(document, flatten(document, results).items ?? {});
			if (answersId(document, operation, (response) => inResult(results(response)))) batch.answersId = true;
			return batch;
		}
	}
	return undefined;
}

export interface IdempotencyHeader {
	idempotencyHeader?: string;
	/** The required format of a key; any text if absent. */
	idempotencyKey?: KeyFormat;
	/** Why the connector cannot do this write, in the user's words. */
	refusal?: string;
}

/** Minimum length of a key that may have any text. */
const minKeyLength = 64;

const keyRefused = 'The CRM requires an idempotency key, but neither as a UUID nor as any text of 64 characters, so nothing was sent.';

/**
 * Reads the idempotency header of an operation (rules 5 and 6): a text of at least 64 characters, or a UUID. Empty if the
 * operation declares none, or an optional one of another form: without a key, an uncertain write is not repeated.
 */
function idempotencyHeaderOf(
	document: OpenApiDocument,
	pathItem: PathItem,
	operation: OpenApiOperation,
): IdempotencyHeader {
	const parameter = parameterFor('idempotencyKey', parametersIn(document, pathItem, operation, 'header'));
	if (parameter?.name === undefined) return {};
	const { format, pattern, maxLength } = flatten(document, parameter.schema ?? {});
	if (format === 'uuid') return { idempotencyHeader: parameter.name, idempotencyKey: { isUuid: true } };
	if (pattern !== undefined || (maxLength ?? Infinity) < minKeyLength) {
		return parameter.required ? { refusal: ruleBroken(6, `Header ${parameter.name}`, keyRefused).message } : {};
	}
	return { idempotencyHeader: parameter.name, ...(maxLength !== undefined && { idempotencyKey: { maxLength } }) };
}

/**
 * Reads the idempotency header of the operation at the path of a request, such as `/v1/contacts/con_1`.
 *
 * @param method in upper case
 * @returns undefined if the document does not describe the operation
 */
export function idempotencyHeaderAt(document: OpenApiDocument, method: string, path: string): IdempotencyHeader | undefined {
	const verb = method.toLowerCase() as 'post' | 'put' | 'patch' | 'delete';
	// The version prefix is part of the document's paths or of its server's address.
	for (const candidatePath of [path, path.replace(/^\/v1(?=\/)/, '')]) {
		for (const { key } of templatesFor(document, candidatePath)) {
			const pathItem = pathItemAt(document, key);
			const operation = pathItem && operationOf(pathItem, verb);
			if (pathItem && operation) return idempotencyHeaderOf(document, pathItem, operation);
		}
	}
	return undefined;
}

/** The parameter that tells an upsert which field identifies the record. */
export interface MatchDescription {
	/** The query parameter that names the field. */
	name: string;
	/** The fields that it lists, the service's default first. */
	values: string[];
	/** The field to send if the user chooses none; if absent, the service decides. */
	whenBlank?: string;
	/** Whether unique custom fields are among them. */
	takesCustomFields: boolean;
}

/** Whether an operation, such as a batch or a job, takes the same parameter: without it, other records would be found. */
const takesMatch = (document: OpenApiDocument, pathItem: PathItem, operation: OpenApiOperation, match: MatchDescription): boolean =>
	parametersIn(document, pathItem, operation, 'query').some(({ name }) => name === match.name);

/**
 * The parameter that takes the field to match on (rule 10): the only one that lists fields of the record, other than those
 * to return (rule 5). A wrong guess among several would find other records.
 *
 * @param fields names of the record's fields
 * @returns undefined if there is none, or several
 */
function describeMatch(
	document: OpenApiDocument,
	pathItem: PathItem,
	operation: OpenApiOperation,
	fields: string[],
): MatchDescription | undefined {
	const parameters = parametersIn(document, pathItem, operation, 'query');
	const returned = parameterFor('fields', parameters);
	const candidates = parameters.filter((parameter) => {
		const choices = parameterChoices(document, parameter);
		return parameter !== returned && choices.length > 0 && choices.every((choice) => choice === 'id' || fields.includes(choice));
	});
	const [only, ...others] = candidates;
	if (only?.name === undefined || others.length > 0) return undefined;

	const { default: usual } = flatten(document, only.schema ?? {});
	const choices = parameterChoices(document, only);
	const values = typeof usual === 'string' ? [...new Set([usual, ...choices])] : choices;
	const [first] = values;
	const isStated = typeof usual === 'string' || only.required === true;
	return {
		name: only.name,
		values,
		...(isStated && first !== undefined && { whenBlank: first }),
		takesCustomFields: only['x-custom-fields'] !== undefined,
	};
}

/** The background job that runs an operation for many records. */
export interface JobDescription extends IdempotencyHeader {
	/** Path of the jobs, with version prefix: `/v1/jobs`. */
	path: string;
	/** Path of the records in the document: `/v1/custom-objects/{key}/records`. */
	collection: string;
	/** The query that starts the job; a name in braces is a parameter of the collection's path. */
	query: Record<string, string>;
	/** The parameter that names the field to match on (upsert). */
	match?: MatchDescription;
	/** The query for results without their records, if the service offers it. */
	withoutRecords?: Record<string, string>;
}

/**
 * Reads the operation's `x-job`: the operationId of the POST that starts a job, and its parameters.
 *
 * @param match how the operation finds records by a field, if it does
 */
export function describeJob(
	document: OpenApiDocument,
	collection: string,
	{ 'x-job': job }: OpenApiOperation,
	match?: MatchDescription,
): JobDescription | undefined {
	const path = job && pathOfPost(document, job.operationId);
	const pathItem = pathItemAt(document, path);
	const operation = pathItem && operationOf(pathItem, 'post');
	if (!job || path === undefined || !operation) return undefined;
	const key = idempotencyHeaderOf(document, pathItem, operation);
	if (key.refusal !== undefined) return undefined;
	const withoutRecords = queryWithoutRecords(document, path);
	return {
		path: `/v1${path.replace(/^.*?\/v1(?=\/)/, '')}`,
		collection,
		query: job.parameters ?? {},
		...key,
		...(match && takesMatch(document, pathItem, operation, match) && { match }),
		...(withoutRecords && { withoutRecords }),
	};
}

/** The query with which results omit their records: they are many times smaller. */
function queryWithoutRecords(document: OpenApiDocument, jobs: string): Record<string, string> | undefined {
	const isOfResults = (path: string) => path.startsWith(`${jobs}/{`) && path.endsWith('}/results');
	const pathItem = pathItemAt(document, Object.keys(document.paths).find(isOfResults));
	const operation = pathItem && operationOf(pathItem, 'get');
	if (!operation) return undefined;
	const parameters = parametersIn(document, pathItem, operation, 'query');
	return parameters.some(({ name }) => name === 'records') ? { records: 'false' } : undefined;
}

/**
 * The query that starts a job for the records at `path`.
 *
 * @param path with version prefix and the ids of its parents: `/v1/custom-objects/cars/records`
 */
export function jobQuery({ collection, query }: JobDescription, path: string): Record<string, string> {
	const steps = path.split('/').reverse();
	const names = collection.split('/').reverse();
	const valueOf = (name: string) => decodeURIComponent(steps[names.indexOf(name)] ?? name);
	const filled = (value: string) => value.replace(/\{[^{}]+\}/g, valueOf);
	return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, filled(value)]));
}
