import { defined } from '../../base/ownMembers';
import type { Field } from '../../fields/field';
import type { KeyFormat } from '../http/idempotency';
import { ruleBroken } from '../http/rules';
import { withoutVersionPrefix } from '../http/path';
import { templatesFor, type OpenApiDocument } from './openapi';
import { hasParameter, operationAt, parameterChoices, parameterFor, type DescribedOperation, type Parameter, type WritingVerb } from './operation';
import { type Schema, fieldsOf } from './schema';

export interface WriteDescription extends IdempotencyHeader {
	method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Whether it replaces the whole record and erases fields that are not sent. */
	replaces?: true;
	/** With `replaces`: whether to send a member of the record as it was read. */
	sends?: (member: string) => boolean;
	fields: Field[];
	/** Whether the write can be made conditional on the record's version (If-Match, RFC 9110, section 13.1.1). */
	takesIfMatch?: true;
	/** Whether a deletion can be permanent: `?permanent=true` leaves only a tombstone. */
	takesPermanent?: true;
	/** Absent if it is unclear by which field an upsert finds the record. */
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

/** @param collection its path in the document */
export function describeWrite(collection: string, operation: DescribedOperation, verb: WritingVerb): WriteDescription {
	const { query, headers, statuses } = operation;
	const fields = fieldsOf(operation.body);
	const match = verb === 'put' ? describeMatch(query, fields.map(({ name }) => name)) : undefined;
	const batch = describeBatch(collection, operation, verb, match);
	const job = describeJob(collection, operation, match);
	return {
		method: verb.toUpperCase() as WriteDescription['method'],
		fields,
		...idempotencyHeaderOf(operation),
		...(hasParameter(headers, 'If-Match') && { takesIfMatch: true }),
		...(verb === 'delete' && hasParameter(query, 'permanent') && { takesPermanent: true }),
		...(match && { match }),
		...(statuses.includes('200') && statuses.includes('201') && { reportsCreated: true }),
		...(batch && { batch }),
		...(job && { job }),
	};
}

function describeBatch(
	collection: string, operation: DescribedOperation, verb: WritingVerb, match: MatchDescription | undefined,
): BatchDescription | undefined {
	const { batch } = operation;
	if (!batch?.path.startsWith(`${collection}/`)) return undefined;
	if (match && !hasParameter(batch.operation.query, match.name)) return undefined;
	// If the service states no limit, it may refuse a batch as too large.
	const isList = ({ type, maxItems = 0 }: Schema) => type === 'array' && maxItems >= 1;
	const list = Object.entries(batch.operation.body.properties ?? {}).find(([, schema]) => isList(schema));
	const key = idempotencyHeaderOf(batch.operation);
	if (!list || key.refusal !== undefined) return undefined;
	// A repeated batch would create again what a repeated single write does not. Repeated changes and deletions create nothing.
	const creates = verb === 'post' || verb === 'put';
	if (creates && key.idempotencyHeader === undefined && idempotencyHeaderOf(operation).idempotencyHeader !== undefined) return undefined;
	const [items, { maxItems = 0, items: item }] = list;
	return {
		path: batch.path.slice(collection.length),
		items,
		maximum: Math.floor(maxItems),
		...key,
		...(item.properties?.version !== undefined && { takesVersion: true }),
	};
}

export interface IdempotencyHeader {
	idempotencyHeader?: string;
	/** The required format of a key; any text if absent. */
	idempotencyKey?: KeyFormat;
	/** Why the connector cannot do this write, in the user's words. */
	refusal?: string;
}

const keyRefused = 'The CRM requires an idempotency key, but neither as a UUID nor as any text of 64 characters, so nothing was sent.';

/**
 * Reads the idempotency header of an operation (rules 5 and 6): a text of at least 64 characters, or a UUID. Empty if the
 * operation declares none, or an optional one of another form: without a key, an uncertain write is not repeated.
 */
function idempotencyHeaderOf({ headers }: DescribedOperation): IdempotencyHeader {
	const parameter = parameterFor('idempotencyKey', headers);
	if (!parameter) return {};
	const { format, pattern, maxLength } = parameter.schema;
	if (format === 'uuid') return { idempotencyHeader: parameter.name, idempotencyKey: { isUuid: true } };
	if (pattern !== undefined || (maxLength ?? Infinity) < 64) {
		return parameter.required ? { refusal: ruleBroken(6, `Header ${parameter.name}`, keyRefused).message } : {};
	}
	return defined({ idempotencyHeader: parameter.name, idempotencyKey: maxLength === undefined ? undefined : { maxLength } });
}

/** Of the operation at the whole path of a request, such as `/v1/contacts/con_1`; undefined if the document does not describe it. */
export function idempotencyHeaderAt(document: OpenApiDocument, method: string, path: string): IdempotencyHeader | undefined {
	const templates = templatesFor(document, withoutVersionPrefix(path));
	const operation = templates.map((template) => operationAt(document, template, method.toLowerCase() as WritingVerb)).find(Boolean);
	return operation && idempotencyHeaderOf(operation);
}

/** The parameter that tells an upsert which field identifies the record. */
export interface MatchDescription {
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
 * to return (rule 5); undefined for several, since a wrong guess would find other records.
 */
function describeMatch(parameters: Parameter[], fields: string[]): MatchDescription | undefined {
	const returned = parameterFor('fields', parameters);
	const isField = (name: string) => name === 'id' || fields.includes(name);
	const [only, ...others] = parameters
		.filter((parameter) => parameter !== returned)
		.map((parameter) => ({ parameter, choices: parameterChoices(parameter) }))
		.filter(({ choices }) => choices.length > 0 && choices.every(isField));
	if (!only || others.length > 0) return undefined;

	const { name, required, schema, 'x-custom-fields': customFields } = only.parameter;
	const usual = [schema.default].filter((value) => typeof value === 'string');
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
	match?: MatchDescription;
	/** The query for results without their records, which are many times smaller, if the service offers it. */
	withoutRecords?: Record<string, string>;
}

/** Reads the operation's `x-job`: the operationId of the POST that starts a job, and its parameters. @param match of the operation */
export function describeJob(collection: string, { job }: DescribedOperation, match?: MatchDescription): JobDescription | undefined {
	const key = job && idempotencyHeaderOf(job.operation);
	if (!job || key?.refusal !== undefined) return undefined;
	return {
		path: withoutVersionPrefix(job.path),
		collection,
		query: job.parameters,
		...key,
		...(match && hasParameter(job.operation.query, match.name) && { match }),
		...(job.results && hasParameter(job.results.query, 'records') && { withoutRecords: { records: 'false' } }),
	};
}

/** The query that starts a job. @param path of the records, with the ids of its parents: `/custom-objects/cars/records` */
export function jobQuery({ collection, query }: JobDescription, path: string): Record<string, string> {
	const segments = path.split('/').reverse();
	const names = collection.split('/').reverse();
	const valueOf = (name: string) => decodeURIComponent(segments[names.indexOf(name)] ?? name);
	const filled = (value: string) => value.replace(/\{[^{}]+\}/g, valueOf);
	return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, filled(value)]));
}
