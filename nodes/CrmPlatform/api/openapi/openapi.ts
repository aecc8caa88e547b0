import { isObject } from '../../base/json';
import { getOrCreate } from '../../base/maps';
import { pointerSteps } from '../../base/ownMembers';
import { customFieldPrefix } from '../../fields/field';
import { percentDecoded } from '../http/path';

type Reader<T> = (json: unknown) => T | undefined;
type Readers = Record<string, Reader<unknown>>;
type Read<R extends Readers> = { [Name in keyof R]?: ReturnType<R[Name]> };

// People and generators make mistakes: a keyword with an unexpected value, such as YAML's null for a key without a
// value, counts as absent and affects nothing else. Without zod: its first schemas take longer than everything else that
// a process does for its first record.
const text: Reader<string> = (json) => (typeof json === 'string' ? json : undefined);
const number: Reader<number> = (json) => (typeof json === 'number' ? json : undefined);
const flag: Reader<boolean> = (json) => (typeof json === 'boolean' ? json : undefined);
const anything: Reader<unknown> = (json) => json;
const anyList: Reader<unknown[]> = (json) => (Array.isArray(json) ? json : undefined);
const anyRecord: Reader<Record<string, unknown>> = (json) => (isObject(json) ? json : undefined);
const texts: Reader<string[]> = (json) => (Array.isArray(json) && json.every((element) => typeof element === 'string') ? json : undefined);

/** The readable elements of a list. */
const listOf =
	<T>(read: Reader<T>): Reader<T[]> =>
	(json) =>
		anyList(json)?.map(read).filter((element) => element !== undefined);

/** The readable members of an object. */
const recordOf =
	<T>(read: Reader<T>): Reader<Record<string, T>> =>
	(json) => {
		if (!isObject(json)) return undefined;
		const members = Object.entries(json).flatMap(([name, member]): Array<[string, T]> => {
			const value = name === '__proto__' ? undefined : read(member);
			return value === undefined ? [] : [[name, value]];
		});
		return Object.fromEntries(members);
	};

/** The members of an object that these readers know. */
const object =
	<R extends Readers>(readers: R): Reader<Read<R>> =>
	(json) => {
		if (!isObject(json)) return undefined;
		const members: Record<string, unknown> = {};
		// Iterates over the object's own members, since schemas have two or three.
		for (const name of Object.keys(json)) {
			const value = Object.hasOwn(readers, name) ? readers[name]!(json[name]) : undefined;
			if (value !== undefined) members[name] = value;
		}
		return members as Read<R>;
	};

const textOrTexts: Reader<string | string[]> = (json) => text(json) ?? texts(json);

/** The keywords of a JSON Schema (OpenAPI 3.0 and 3.1) that the connector reads, without those that contain schemas. */
const plainKeywords = {
	$ref: text,
	type: textOrTexts,
	title: text,
	description: text,
	format: text,
	pattern: text,
	enum: anyList,
	const: anything,
	minimum: number,
	maximum: number,
	maxLength: number,
	maxItems: number,
	default: anything,
	readOnly: flag,
	/** False if an object may only have the named members. */
	additionalProperties: (json: unknown) => (json === false ? json : undefined),
	required: listOf(text),
	/** Ours: whether the service stores texts in lower case, so that values which differ in case are equal. */
	'x-lower-case': flag,
	/** Ours: the labels of the values of an enumeration, by value. */
	'x-enum-labels': recordOf(text),
	/** Ours: whether it is one of the fields people use most. */
	'x-important': flag,
	/** Ours: whether the order of a list of plain values counts. */
	'x-ordered': flag,
	/** Ours: the collection of the record that an id identifies, such as `companies`; several for `companies:com_…`. */
	'x-resource': textOrTexts,
	/** Ours: the collection and member of the part that an id identifies, such as `pipelines.stages`. */
	'x-item-of': text,
};

export interface Schema extends Read<typeof plainKeywords> {
	properties?: Record<string, Schema> | undefined;
	items?: Schema | undefined;
	allOf?: Schema[] | undefined;
	anyOf?: Schema[] | undefined;
	oneOf?: Schema[] | undefined;
}

// `true` allows any value (JSON Schema, section 4.3.2), as does an invalid schema; `false` allows none.
const schema: Reader<Schema> = (json) => (json === false ? undefined : (schemaObject(json) ?? {}));
const optionalSchema: Reader<Schema> = (json) => (json === null ? undefined : schema(json));
const schemas = listOf(schema);
const schemaObject = object({ ...plainKeywords, properties: recordOf(schema), items: optionalSchema, allOf: schemas, anyOf: schemas, oneOf: schemas });

const reference = { $ref: text };
const content = recordOf(object({ schema: optionalSchema }));

/** Ours: the names of the account's custom fields, which are accepted in addition to the documented names. */
const customFieldNames = (json: unknown) => (json === `${customFieldPrefix}{key}` ? json : undefined);

const parameter = object({
	...reference,
	name: text,
	in: text,
	required: flag,
	description: text,
	schema: optionalSchema,
	style: text,
	explode: flag,
	'x-custom-fields': customFieldNames,
});

const requestBody = object({ ...reference, content });

const response = object({ ...reference, content });

const jobReference = (json: unknown) => {
	const { operationId, parameters } = object({ operationId: text, parameters: recordOf(text) })(json) ?? {};
	return operationId === undefined ? undefined : { operationId, parameters };
};

const operation = object({
	operationId: text,
	/** Ours: the operation that writes many records at once, by its operationId. */
	'x-batch': text,
	'x-job': jobReference,
	'x-custom-fields': customFieldNames,
	/** Ours: the comparisons that filters by custom fields have, by type of field. */
	'x-custom-field-filters': recordOf(texts),
	/** Ours: the types of custom fields that are filtered by several values, separated by commas. */
	'x-custom-field-lists': texts,
	/** parametersIn() reads them on demand: lists have dozens, and a write needs none of them. */
	parameters: anyList,
	requestBody: anything,
	responses: anyRecord,
});

const pathItem = object({
	...reference,
	parameters: anyList,
	get: anything,
	post: anything,
	put: anything,
	patch: anything,
	delete: anything,
});

// A document has megabytes, and a node needs two operations of it. Only the outer structure is checked here;
// pathItemAt(), operationOf() and readPart() read the parts on demand.
const document = object({
	openapi: (json) => (/^3\./.test(text(json) ?? '') ? text(json) : undefined),
	paths: anyRecord,
	webhooks: anyRecord,
	components: anyRecord,
});

type ReadBy<R extends Reader<unknown>> = NonNullable<ReturnType<R>>;

export type OpenApiDocument = ReadBy<typeof document> & { openapi: string; paths: Record<string, unknown> };
export type OpenApiOperation = ReadBy<typeof operation>;
export type OpenApiParameter = ReadBy<typeof parameter>;
export type PathItem = ReadBy<typeof pathItem>;

/** Reads an OpenAPI 3 document; undefined if the JSON is not one, or breaks rule 1. */
export function parseOpenApi(json: unknown): OpenApiDocument | undefined {
	if (whyUnusable(json) !== undefined) return undefined;
	const { openapi, paths, ...others } = document(json) ?? {};
	return openapi !== undefined && paths ? { openapi, paths, ...others } : undefined;
}

/** Deeper than any real description, and far from a stack overflow. */
const maxNesting = 200;

/** Why JSON cannot be used as a description: it is nested too deeply for recursive readers, or not in one piece. */
export function whyUnusable(json: unknown): string | undefined {
	let level = [json].filter(isObjectOrList);
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > maxNesting) return `parts of it are nested more than ${maxNesting} levels deep`;
		// Loops, since a document has 100,000 parts.
		const next: object[] = [];
		for (const parent of level) {
			for (const value of Object.values(parent)) if (isObjectOrList(value)) next.push(value);
			if ('$ref' in parent && typeof parent.$ref === 'string' && !parent.$ref.startsWith('#')) return 'it refers to other documents';
		}
		level = next;
	}
	return undefined;
}

/** The readers of parts that are read on demand. */
const partReaders = { schema, parameter, requestBody, response, operation, pathItem };

type Referable = { [PartType in keyof typeof partReaders]: NonNullable<ReturnType<(typeof partReaders)[PartType]>> };

// Many operations refer to the same parts. Parsed parts live as long as the document.
const parsedCache = new WeakMap<object, Map<string, unknown>>();

/** A part of a document, parsed once; undefined if it is unreadable. */
function parsedAs<PartType extends keyof Referable>(type: PartType, json: unknown): Referable[PartType] | undefined {
	const parse = () => partReaders[type](json) as Referable[PartType] | undefined;
	if (!isObjectOrList(json)) return parse();
	const parsedByType = getOrCreate(parsedCache, json, () => new Map<string, unknown>());
	return getOrCreate(parsedByType, type, parse) as Referable[PartType] | undefined;
}

/** An operation of a path, if the path has it. */
export function operationOf(
	pathItem: PathItem,
	verb: 'get' | 'post' | 'put' | 'patch' | 'delete',
): OpenApiOperation | undefined {
	return parsedAs('operation', pathItem[verb]);
}

/** Reads a part of the document and follows references; an empty object if it cannot be read. */
export function readPart<PartType extends keyof Referable>(
	document: OpenApiDocument,
	json: unknown,
	type: PartType,
): Referable[PartType] {
	return resolve(document, parsedAs(type, json) ?? {}, type);
}

const resolvedCache = new WeakMap<object, unknown>();

/**
 * Follows references inside the document (JSON Pointer, RFC 6901). Members beside a reference take precedence over
 * those of its target (OpenAPI 3.1, section 4.8.23; generators write them for 3.0, too).
 *
 * @returns an empty object if the reference leads nowhere or in a circle; the target itself, as one object, for
 * references without other members
 */
export function resolve<PartType extends keyof Referable>(
	document: OpenApiDocument,
	value: Referable[PartType],
	type: PartType,
): Referable[PartType] {
	const { $ref: reference } = value as { $ref?: string };
	if (reference === undefined) return value;
	const cachedPart = resolvedCache.get(value);
	if (cachedPart) return cachedPart;
	let current: Referable[PartType] & { $ref?: string | undefined } = value;
	for (let depth = 0; current.$ref !== undefined; depth++) {
		const { $ref, ...siblings } = current;
		const target = depth > maxReferences ? undefined : parsedAs(type, pointedAt(document, $ref));
		const definedSiblings = defined(siblings);
		current = target && Object.keys(definedSiblings).length === 0 ? target : { ...target, ...definedSiblings };
	}
	resolvedCache.set(value, current);
	return current;
}

/** Maximum length of a chain of references. */
const maxReferences = 20;

/** The JSON at a reference such as `#/components/schemas/Contact/properties/address`. */
function pointedAt(document: OpenApiDocument, reference: string): unknown {
	const steps = pointerSteps(percentDecoded(reference.slice(1)));
	return steps.reduce<unknown>((value, step) => (isObjectOrList(value) && Object.hasOwn(value, step) ? value[step as never] : undefined), document);
}

const isObjectOrList = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** An object without its undefined members. */
export function defined<T extends object>(object: T): Partial<T> {
	return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>;
}
