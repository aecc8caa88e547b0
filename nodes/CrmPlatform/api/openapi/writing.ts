import { fieldsOf, type Field } from './fields';
import { parameterField } from './listing';
import { pathItemAt, pathOfPost, resolve, type OpenApiDocument, type PathItem } from './openapi';
import { parameterChoices, flatten, jsonSchema, parametersIn } from './schema';

/** How one kind of record is written. */
export interface WriteDescription {
	method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	fields: Field[];
	/** What is said in the query. */
	query: Field[];
	/** The header that carries the idempotency key. */
	idempotencyHeader?: string;
	/** Whether the write can be made conditional on the record's version (If-Match, RFC 9110, section 13.1.1). */
	takesIfMatch?: true;
	/**
	 * The parameter that names the field to match on, the fields it takes, and whether unique custom
	 * fields are among them (upsert).
	 */
	match?: { name: string; values: string[]; takesCustomFields: boolean };
	/** How the same is done for many records at once. */
	batch?: BatchDescription;
}

/** How many records are written by one request. */
export interface BatchDescription {
	/** Path from the collection on, such as `/batch/create`. */
	path: string;
	/** The member of the body that holds the records. */
	items: string;
	/** Most records in one request. */
	maximum: number;
	/** Whether an item can name the version it changes; the service refuses it for a newer one. */
	takesVersion?: true;
}

/**
 * Reads what a write operation takes.
 *
 * @param collection path of the collection in the document
 */
export function describeWrite(
	document: OpenApiDocument,
	collection: string,
	pathItem: PathItem,
	verb: 'post' | 'put' | 'patch' | 'delete',
): WriteDescription {
	const operation = pathItem[verb] ?? {};
	const method = verb.toUpperCase() as WriteDescription['method'];
	const query = parametersIn(document, pathItem, operation, 'query');
	const description: WriteDescription = {
		method,
		fields: [],
		query: query.map((parameter) => parameterField(document, parameter)),
	};

	const body = jsonSchema(resolve(document, operation.requestBody ?? {}));
	if (body) description.fields = fieldsOf(document, body);
	const header = parametersIn(document, pathItem, operation, 'header').find(({ name = '' }) =>
		/idempotency/i.test(name),
	);
	if (header?.name !== undefined) description.idempotencyHeader = header.name;
	const headers = parametersIn(document, pathItem, operation, 'header');
	if (headers.some(({ name = '' }) => /^if-match$/i.test(name))) description.takesIfMatch = true;
	const match = query.find((parameter) => parameterChoices(document, parameter).length > 0);
	if (match?.name !== undefined) {
		description.match = {
			name: match.name,
			values: parameterChoices(document, match),
			takesCustomFields: match['x-custom-fields'] !== undefined,
		};
	}
	const batch = describeBatch(document, collection, operation['x-batch']);
	if (batch) description.batch = batch;
	return description;
}

function describeBatch(
	document: OpenApiDocument,
	collection: string,
	operationId: string | undefined,
): BatchDescription | undefined {
	const path = operationId === undefined ? undefined : pathOfPost(document, operationId);
	if (!path?.startsWith(`${collection}/`)) return undefined;
	const requestBody = pathItemAt(document, path)?.post?.requestBody;
	const { properties = {} } = flatten(document, jsonSchema(resolve(document, requestBody ?? {})) ?? {});
	for (const [items, schema] of Object.entries(properties)) {
		const { type, maxItems } = flatten(document, schema);
		// Without a limit of the service's own, what is sent may be refused as too much.
		if (type === 'array' && maxItems !== undefined) {
			const batch: BatchDescription = { path: path.slice(collection.length), items, maximum: maxItems };
			const { items: item } = flatten(document, schema);
			if (flatten(document, item ?? {}).properties?.version) batch.takesVersion = true;
			return batch;
		}
	}
	return undefined;
}
