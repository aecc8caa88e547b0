import type { Field } from '../../fields/field';
import { fieldsOf } from './schemaFields';
import { idempotencyHeaderOf, type IdempotencyHeader } from './idempotencyHeader';
import { describeJob, type JobDescription } from './jobs';
import { describeMatch, takesMatch, type MatchDescription } from './match';
import type { OpenApiDocument, OpenApiOperation, PathItem, Schema } from './openapi';
import { operationOf, readPart } from './documentParts';
import { pathItemAt, pathOfPost } from './paths';
import { flatten, jsonBody, jsonSchema, parametersIn } from './schema';

/** How records of one type are written. */
export interface WriteDescription extends IdempotencyHeader {
	method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Whether it replaces the whole record and erases fields that are not sent. */
	replaces?: true;
	/** Why the connector cannot do this write, in the user's words. */
	refusal?: string;
	/** Media type of the body, if it is not `application/json`. */
	contentType?: string;
	fields: Field[];
	/** Members of the record that only the service sets, if the body's description lists them. */
	readOnly?: string[];
	/** Whether the body accepts only the described members. */
	isClosed?: true;
	/** Whether the write can be made conditional on the record's version (If-Match, RFC 9110, section 13.1.1). */
	takesIfMatch?: true;
	/** Whether every described success response contains the id of the record. */
	answersId?: true;
	/** The parameter that tells an upsert by which field to find the record; absent if that is unclear. */
	match?: MatchDescription;
	/** Whether the status of a response distinguishes a created record (201) from an updated one (200). */
	tellsCreated?: true;
	/** The operation that writes many records with one request. */
	batch?: BatchDescription;
	/** The background job that writes many records. */
	job?: JobDescription;
}

/** How one request writes many records, under a key of its own. */
export interface BatchDescription extends IdempotencyHeader {
	/** Path relative to the collection, such as `/batch/create`. */
	path: string;
	/** The member of the body that holds the records. */
	items: string;
	/** Maximum number of records in one request. */
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
		const [type = ''] = body.type.split(';');
		const { properties = {}, additionalProperties } = flatten(document, body.schema);
		const readOnly = Object.keys(properties).filter((name) => flatten(document, properties[name]!).readOnly);
		return {
			fields: fieldsOf(document, body.schema),
			...(readOnly.length > 0 && { readOnly }),
			...(additionalProperties === false && { isClosed: true }),
			...(!type.includes('*') && type.toLowerCase() !== 'application/json' && { contentType: type.trim() }),
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
