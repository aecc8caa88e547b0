import { idempotencyHeaderOf, type IdempotencyHeader } from './idempotencyHeader';
import { takesMatch, type MatchDescription } from './match';
import type { OpenApiDocument, OpenApiOperation } from './openapi';
import { operationOf } from './documentParts';
import { pathItemAt, pathOfPost } from './paths';
import { parametersIn } from './schema';

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
	const withoutRecords = queryWithoutRecords(document, path);
	return {
		path: `/v1${path.replace(/^.*?\/v1(?=\/)/, '')}`,
		collection,
		query: job.parameters ?? {},
		...idempotencyHeaderOf(document, pathItem, operation),
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
