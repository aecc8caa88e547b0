import { isObject } from '../../base/json';
import { getOrCreate } from '../../base/maps';
import { pointerSteps } from '../../base/ownMembers';
import { customFieldPrefix } from '../../fields/field';
import { type Collection, percentDecoded, withoutVersionPrefix } from '../http/path';

/** An OpenAPI 3 document: megabytes of JSON, of which a node needs two operations. The readers below read a part on demand. */
export interface OpenApiDocument {
	paths: Record<string, unknown>;
	webhooks?: unknown;
}

/** Deeper than any real description, and far from a stack overflow. */
const maxNesting = 200;

/** @throws Error if the JSON is not an OpenAPI 3 document, not in one piece, or nested too deeply for recursive readers (rule 1) */
export function parseOpenApi(json: unknown): OpenApiDocument {
	const { openapi, paths } = isObject(json) ? json : {};
	if (typeof openapi !== 'string' || !openapi.startsWith('3.')) throw new Error('the response is not an OpenAPI 3 document');
	if (!isObject(paths)) throw new Error('it has no paths');
	let level = [json as object];
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > maxNesting) throw new Error(`parts of it are nested more than ${maxNesting} levels deep`);
		// Loops, since a document has 100,000 parts.
		const next: object[] = [];
		for (const part of level) {
			if (refersElsewhere(part)) throw new Error('it refers to other documents');
			for (const value of Object.values(part)) if (isObjectOrList(value)) next.push(value);
		}
		level = next;
	}
	return json as OpenApiDocument;
}

const refersElsewhere = (part: object): boolean => '$ref' in part && typeof part.$ref === 'string' && !part.$ref.startsWith('#');

const isObjectOrList = (value: unknown): value is object => typeof value === 'object' && value !== null;

type Readers = Record<string, (json: unknown) => unknown>;
type Read<R extends Readers> = { [Name in keyof R]?: NonNullable<ReturnType<R[Name]>> };

/** Maximum length of a chain of references. */
const maxReferences = 20;

/**
 * Reads those members of a part that `readers` know, each part once. References inside the document are followed (JSON
 * Pointer, RFC 6901). Members beside a reference take precedence over those of its target (OpenAPI 3.1, section 4.8.23;
 * generators write them for 3.0, too).
 *
 * @returns an empty object if the part is unreadable, or its reference leads nowhere or in a circle; the target itself, as
 * one object, for references without other members
 */
function partReader<R extends Readers>(readers: R) {
	const cache = new WeakMap<object, Read<R>>();
	return function read(document: OpenApiDocument, json: unknown, followed = 0): Read<R> {
		if (!isObject(json)) return {};
		return getOrCreate(cache, json, () => {
			const members: Record<string, unknown> = {};
			// Iterates over the object's own members, since schemas have two or three.
			for (const name of Object.keys(json)) {
				const value = Object.hasOwn(readers, name) ? readers[name]!(json[name]) : undefined;
				if (value !== undefined) members[name] = value;
			}
			if (typeof json.$ref !== 'string') return members;
			const target = followed < maxReferences ? read(document, pointedAt(document, json.$ref), followed + 1) : {};
			return Object.keys(members).length === 0 ? target : { ...target, ...members };
		});
	};
}

/** The JSON at a reference such as `#/components/schemas/Contact/properties/address`. */
function pointedAt(document: OpenApiDocument, reference: string): unknown {
	const at = (value: unknown, step: string) => (isObjectOrList(value) && Object.hasOwn(value, step) ? value[step as never] : undefined);
	return pointerSteps(percentDecoded(reference.slice(1))).reduce<unknown>(at, document);
}

// People and generators make mistakes: a keyword with an unexpected value, such as YAML's null for a key without a
// value, counts as absent and affects nothing else. Without zod: its first schemas take longer than everything else that
// a process does for its first record.
const text = (json: unknown) => (typeof json === 'string' ? json : undefined);
const number = (json: unknown) => (typeof json === 'number' ? json : undefined);
const flag = (json: unknown) => (typeof json === 'boolean' ? json : undefined);
const anything = (json: unknown) => json;
const list = (json: unknown) => (Array.isArray(json) ? (json as unknown[]) : undefined);
const object = (json: unknown): Record<string, unknown> | undefined => (isObject(json) ? json : undefined);
const texts = (json: unknown) => list(json)?.filter((element) => typeof element === 'string');
const textOrTexts = (json: unknown) => text(json) ?? texts(json);

/** An object of texts, or of lists of them. */
const objectOf = <T>(read: (json: unknown) => T | undefined) => (json: unknown): Record<string, T> | undefined => {
	const readable = Object.entries(object(json) ?? {}).filter(([, member]) => read(member) !== undefined);
	return isObject(json) ? (Object.fromEntries(readable) as Record<string, T>) : undefined;
};

/** Schemas by name. One that is `false` allows no value (JSON Schema, section 4.3.2), as if it were absent. */
const schemas = objectOf((json) => (json === false ? undefined : json));

/** Ours: the names of the account's custom fields, which are accepted in addition to the documented names. */
const customFieldNames = (json: unknown) => (json === `${customFieldPrefix}{key}` ? json : undefined);

/** A JSON Schema (OpenAPI 3.0 and 3.1) as written; `flatten` reads it in one piece. */
export const readSchema = partReader({
	type: textOrTexts,
	title: text,
	description: text,
	format: text,
	pattern: text,
	enum: list,
	const: anything,
	minimum: number,
	maximum: number,
	maxLength: number,
	maxItems: number,
	default: anything,
	readOnly: flag,
	/** False if an object may only have the named members. */
	additionalProperties: (json: unknown) => (json === false ? json : undefined),
	required: texts,
	properties: schemas,
	items: object,
	allOf: list,
	anyOf: list,
	oneOf: list,
	/** Ours: whether the service stores texts in lower case, so that values which differ in case are equal. */
	'x-lower-case': flag,
	/** Ours: the labels of the values of an enumeration, by value. */
	'x-enum-labels': objectOf(text),
	/** Ours: whether it is one of the fields people use most. */
	'x-important': flag,
	/** Ours: the collection of the record that an id identifies, such as `companies`; several for `companies:com_…`. */
	'x-resource': textOrTexts,
	/** Ours: the collection and member of the part that an id identifies, such as `pipelines.stages`. */
	'x-item-of': text,
});

export type Schema = ReturnType<typeof readSchema>;

export const readParameter = partReader({
	name: text,
	in: text,
	required: flag,
	description: text,
	schema: anything,
	style: text,
	explode: flag,
	'x-custom-fields': customFieldNames,
});

export type OpenApiParameter = ReturnType<typeof readParameter>;

/** The body of a request or a response. */
export const readBody = partReader({ content: object });

const readOperation = partReader({
	operationId: text,
	/** Ours: the operation that writes many records at once, by its operationId. */
	'x-batch': text,
	/** Ours: the operation that starts a background job, by its operationId, and its parameters. */
	'x-job': (json) => (isObject(json) ? { operationId: text(json.operationId), parameters: objectOf(text)(json.parameters) } : undefined),
	'x-custom-fields': customFieldNames,
	/** Ours: the comparisons that filters by custom fields have, by type of field. */
	'x-custom-field-filters': objectOf(texts),
	/** Ours: the types of custom fields that are filtered by several values, separated by commas. */
	'x-custom-field-lists': texts,
	/** parametersIn() reads them on demand: lists have dozens, and a write needs none of them. */
	parameters: list,
	requestBody: anything,
	responses: object,
});

export type OpenApiOperation = ReturnType<typeof readOperation>;

export type WritingVerb = 'post' | 'put' | 'patch' | 'delete';

const readPathItem = partReader({ parameters: list, get: object, post: object, put: object, patch: object, delete: object });

/**
 * An operation, by its path as the document writes it; undefined if the document lacks it. The parameters of its path come
 * before its own, which override them (OpenAPI 3.1, section 4.8.9).
 */
export function operationAt(document: OpenApiDocument, path: string | undefined, verb: 'get' | WritingVerb): OpenApiOperation | undefined {
	const { parameters: shared = [], [verb]: json } = readPathItem(document, path === undefined ? undefined : document.paths[path]);
	if (!json) return undefined;
	const operation = readOperation(document, json);
	return { ...operation, parameters: [...shared, ...(operation.parameters ?? [])] };
}

/** The POST operation with this operationId, and its path. */
export function postNamed(document: OpenApiDocument, operationId: unknown): { path: string; operation: OpenApiOperation } | undefined {
	if (typeof operationId !== 'string') return undefined;
	const isNamed = (pathItem: unknown) => isObject(pathItem) && isObject(pathItem.post) && pathItem.post.operationId === operationId;
	const path = Object.keys(document.paths).find((template) => isNamed(document.paths[template]));
	const operation = operationAt(document, path, 'post');
	return path !== undefined && operation ? { path, operation } : undefined;
}

export const isParameter = (step = ''): boolean => step.startsWith('{');

// A document may have a thousand paths, and each request looks one up.
const stepsCache = new WeakMap<OpenApiDocument, Array<{ template: string; steps: string[] }>>();

/**
 * The paths that match one, as the document writes them, the ones with the fewest parameters first (OpenAPI
 * 3.1, section 4.8.8.2).
 */
export function templatesFor(document: OpenApiDocument, path: string): string[] {
	const steps = path.replace(/\/+$/, '').split('/');
	const matches = (described: string[]) => described.every((step, i) => isParameter(step) || step === steps[i]);
	const parameters = (described: string[]) => described.filter(isParameter).length;
	return getOrCreate(stepsCache, document, () => Object.keys(document.paths).map(stepsOf))
		.filter((described) => described.steps.length === steps.length && matches(described.steps))
		.sort((a, b) => parameters(a.steps) - parameters(b.steps))
		.map(({ template }) => template);
}

const stepsOf = (template: string) => ({ template, steps: withoutVersionPrefix(template).split('/') });

/**
 * The path of the records at `path` as the document writes it.
 *
 * @param path its parameters may be filled in, or have any name in braces
 */
export function collectionIn(document: OpenApiDocument, path: Collection): string | undefined {
	// A parameter at the end is a record.
	return templatesFor(document, path).find((template) => !template.endsWith('}'));
}
