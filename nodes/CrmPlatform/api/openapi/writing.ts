import { defined } from '../../base/ownMembers';
import type { Field } from '../../fields/field';
import type { KeyFormat } from '../http/idempotency';
import { ruleBroken } from '../http/rules';
import { withoutVersionPrefix } from '../http/path';
import {
	operationAt, postNamed, templatesFor, type OpenApiDocument, type OpenApiOperation, type WritingVerb,
} from './openapi';
import { hasParameter, parameterChoices, parameterFor, parametersIn } from './parameters';
import { bodyAt, flatten } from './schema';
import { fieldsOf } from './schemaFields';

export interface WriteDescription extends IdempotencyHeader {
	method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Whether it replaces the whole record and erases fields that are not sent. */
	replaces?: true;
	/** With `replaces`: whether to send a member of the record as it was read. */
	sends?: (member: string) => boolean;
	/** Media type of the body, if it is not `application/json`. */
	contentType?: string;
	fields: Field[];
	/** Whether the write can be made conditional on the record's version (If-Match, RFC 9110, section 13.1.1). */
	takesIfMatch?: true;
	/** Whether a deletion can be permanent: `?permanent=true` leaves only a tombstone. */
	takesPermanent?: true;
	/** The parameter that tells an upsert by which field to find the record; absent if that is unclear. */
	match?: MatchDescription;
	/** Whether the status of a response distinguishes a created record (201) from an updated one (200). */
	reportsCreated?: true;
	batch?: BatchDescription;
	job?: JobDescription;
}

/** How one request writes many records, under a key of its own. */
interface BatchDescription extends IdempotencyHeader {
	/** Path relative to the collection, such as `/batch/create`. */
	path: string;
	/** The member of the body that holds the records. */
	items: string;
	maximum: number;
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
	operation: OpenApiOperation,
	verb: WritingVerb,
): WriteDescription {
	const { schema, mergePatchType } = bodyAt(document, operation.requestBody);
	const fields = fieldsOf(document, schema);
	const match = verb === 'put' ? describeMatch(document, operation, fields.map(({ name }) => name)) : undefined;
	const batch = describeBatch(document, collection, operation, match);
	const job = describeJob(document, collection, operation, match);
	const { responses = {} } = operation;
	return {
		method: verb.toUpperCase() as WriteDescription['method'],
		fields,
		...(mergePatchType !== undefined && { contentType: mergePatchType }),
		...idempotencyHeaderOf(document, operation),
		...(hasParameter(document, operation, 'header', 'If-Match') && { takesIfMatch: true }),
		...(verb === 'delete' && hasParameter(document, operation, 'query', 'permanent') && { takesPermanent: true }),
		...(match && { match }),
		...('200' in responses && '201' in responses && { reportsCreated: true }),
		...(batch && { batch }),
		...(job && { job }),
	};
}

function describeBatch(
	document: OpenApiDocument,
	collection: string,
	operation: OpenApiOperation,
	match: MatchDescription | undefined,
): BatchDescription | undefined {
	const batch = postNamed(document, operation['x-batch']);
	if (!batch?.path.startsWith(`${collection}/`)) return undefined;
	if (match && !hasParameter(document, batch.operation, 'query', match.name)) return undefined;
	const { properties = {} } = bodyAt(document, batch.operation.requestBody).schema;
	const lists = Object.entries(properties).map(([name, schema]) => ({ name, ...flatten(document, schema) }));
	// If the service states no limit, it may refuse a batch as too large.
	const list = lists.find(({ type, maxItems = 0 }) => type === 'array' && maxItems >= 1);
	const key = idempotencyHeaderOf(document, batch.operation);
	if (list?.maxItems === undefined || key.refusal !== undefined) return undefined;
	return {
		path: batch.path.slice(collection.length),
		items: list.name,
		maximum: Math.floor(list.maxItems),
		...key,
		...(flatten(document, list.items).properties?.version !== undefined && { takesVersion: true }),
	};
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
function idempotencyHeaderOf(document: OpenApiDocument, operation: OpenApiOperation): IdempotencyHeader {
	const parameter = parameterFor('idempotencyKey', parametersIn(document, operation, 'header'));
	if (parameter?.name === undefined) return {};
	const { format, pattern, maxLength } = flatten(document, parameter.schema);
	if (format === 'uuid') return { idempotencyHeader: parameter.name, idempotencyKey: { isUuid: true } };
	if (pattern !== undefined || (maxLength ?? Infinity) < minKeyLength) {
		return parameter.required ? { refusal: ruleBroken(6, `Header ${parameter.name}`, keyRefused).message } : {};
	}
	return defined({ idempotencyHeader: parameter.name, idempotencyKey: maxLength === undefined ? undefined : { maxLength } });
}

/**
 * Reads the idempotency header of the operation at the whole path of a request, such as `/v1/contacts/con_1`.
 *
 * @param method in upper case
 * @returns undefined if the document does not describe the operation
 */
export function idempotencyHeaderAt(document: OpenApiDocument, method: string, path: string): IdempotencyHeader | undefined {
	const templates = templatesFor(document, withoutVersionPrefix(path));
	const operation = templates.map((template) => operationAt(document, template, method.toLowerCase() as WritingVerb)).find(Boolean);
	return operation && idempotencyHeaderOf(document, operation);
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

/**
 * The parameter that takes the field to match on (rule 10): the only one that lists fields of the record, other than those
 * to return (rule 5). A wrong guess among several would find other records.
 *
 * @param fields names of the record's fields
 * @returns undefined if there is none, or several
 */
function describeMatch(document: OpenApiDocument, operation: OpenApiOperation, fields: string[]): MatchDescription | undefined {
	const parameters = parametersIn(document, operation, 'query');
	const returned = parameterFor('fields', parameters);
	const isField = (name: string) => name === 'id' || fields.includes(name);
	const [only, ...others] = parameters
		.filter((parameter) => parameter !== returned)
		.map((parameter) => ({ parameter, choices: parameterChoices(document, parameter) }))
		.filter(({ choices }) => choices.length > 0 && choices.every(isField));
	if (!only || others.length > 0) return undefined;

	const { name = '', required, schema, 'x-custom-fields': customFields } = only.parameter;
	const usual = [flatten(document, schema).default].filter((value) => typeof value === 'string');
	const values = [...new Set([...usual, ...only.choices])];
	const whenBlank = usual.length > 0 || required ? values[0] : undefined;
	return defined({ name, values, whenBlank, takesCustomFields: customFields !== undefined });
}

/** The background job that runs an operation for many records. */
export interface JobDescription extends IdempotencyHeader {
	/** Path of the jobs: `/jobs`. */
	path: string;
	/** Path of the records as the document writes it: `/v1/custom-objects/{key}/records`. */
	collection: string;
	/** The query that starts the job; a name in braces is a parameter of the collection's path. */
	query: Record<string, string>;
	/** The parameter that names the field to match on (upsert). */
	match?: MatchDescription;
	/** The query for results without their records, which are many times smaller, if the service offers it. */
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
	{ 'x-job': named }: OpenApiOperation,
	match?: MatchDescription,
): JobDescription | undefined {
	const job = postNamed(document, named?.operationId);
	const key = job && idempotencyHeaderOf(document, job.operation);
	if (!job || key?.refusal !== undefined) return undefined;
	const isOfResults = (path: string) => path.startsWith(`${job.path}/{`) && path.endsWith('}/results');
	const results = operationAt(document, Object.keys(document.paths).find(isOfResults), 'get');
	return {
		path: withoutVersionPrefix(job.path),
		collection,
		query: named?.parameters ?? {},
		...key,
		...(match && hasParameter(document, job.operation, 'query', match.name) && { match }),
		...(results && hasParameter(document, results, 'query', 'records') && { withoutRecords: { records: 'false' } }),
	};
}

/**
 * The query that starts a job for the records at `path`.
 *
 * @param path with the ids of its parents: `/custom-objects/cars/records`
 */
export function jobQuery({ collection, query }: JobDescription, path: string): Record<string, string> {
	const steps = path.split('/').reverse();
	const names = collection.split('/').reverse();
	const valueOf = (name: string) => decodeURIComponent(steps[names.indexOf(name)] ?? name);
	const filled = (value: string) => value.replace(/\{[^{}]+\}/g, valueOf);
	return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, filled(value)]));
}
