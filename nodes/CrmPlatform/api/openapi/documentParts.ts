import { getOrCreate } from '../../base/maps';
import { countSteps, leaveOut } from './work';
import { partReaders, type OpenApiDocument, type OpenApiOperation, type PathItem } from './openapi';

type Referable = { [Kind in keyof typeof partReaders]: NonNullable<ReturnType<(typeof partReaders)[Kind]>> };

// Many operations refer to the same parts. What was read lives as long as the document.
const parsedCache = new WeakMap<object, Map<string, unknown>>();

/** A part of a document, parsed once; undefined where it cannot be read. */
function parsedAs<Kind extends keyof Referable>(kind: Kind, json: unknown): Referable[Kind] | undefined {
	if (!isObjectOrList(json)) return parse(kind, json);
	const parsedByKind = getOrCreate(parsedCache, json, () => new Map<string, unknown>());
	if (!parsedByKind.has(kind)) parsedByKind.set(kind, parse(kind, json));
	return parsedByKind.get(kind) as Referable[Kind] | undefined;
}

function parse<Kind extends keyof Referable>(kind: Kind, json: unknown): Referable[Kind] | undefined {
	return isTooDeep(json) ? undefined : (partReaders[kind](json) as Referable[Kind] | undefined);
}

/** Deeper than any real description, and far from a stack overflow. */
const maxDepth = 200;

/** Whether JSON is nested too deeply for readers that call themselves. */
export function isTooDeep(json: unknown): boolean {
	let level = [json].filter(isObjectOrList);
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > maxDepth) return true;
		// Loops, because a document has 100,000 parts.
		const next: object[] = [];
		for (const parent of level) for (const value of Object.values(parent)) if (isObjectOrList(value)) next.push(value);
		level = next;
	}
	return false;
}

/** An operation of a path; undefined where it has none. */
export function operationOf(
	pathItem: PathItem,
	verb: 'get' | 'post' | 'put' | 'patch' | 'delete',
): OpenApiOperation | undefined {
	return parsedAs('operation', pathItem[verb]);
}

/** The answer of an operation that succeeds. */
export const successOf = ({ responses = {} }: OpenApiOperation): unknown =>
	responses['200'] ?? responses['206'] ?? responses['2XX'] ?? responses.default;

/** Reads a part of the document, references followed; an object that says nothing where it cannot be read. */
export function readPart<Kind extends keyof Referable>(
	document: OpenApiDocument,
	json: unknown,
	kind: Kind,
): Referable[Kind] {
	if (isObjectOrList(json) && !parsedCache.has(json) && isTooDeep(json)) leaveOut(document, `parts nested more than ${maxDepth} levels deep`);
	return resolve(document, parsedAs(kind, json) ?? {}, kind);
}

const resolvedCache = new WeakMap<object, unknown>();

/**
 * Follows references inside the document (JSON Pointer, RFC 6901). What stands beside a reference
 * takes precedence over what it refers to (OpenAPI 3.1, section 4.8.23; generators do it for 3.0).
 *
 * @returns an object that says nothing where the reference leads nowhere or in a circle; the same for
 * each reference that has nothing beside it
 */
export function resolve<Kind extends keyof Referable>(
	document: OpenApiDocument,
	value: Referable[Kind],
	kind: Kind,
): Referable[Kind] {
	const { $ref: reference } = value as { $ref?: string };
	if (reference === undefined) return value;
	const cachedPart = resolvedCache.get(value);
	if (cachedPart) return cachedPart;
	let current: Referable[Kind] & { $ref?: string | undefined } = value;
	for (let depth = 0; current.$ref !== undefined; depth++) {
		const { $ref, ...siblings } = current;
		const target = depth > maxReferences ? undefined : parsedAs(kind, pointedAt(document, $ref));
		const beside = defined(siblings);
		current = target && Object.keys(beside).length === 0 ? target : { ...target, ...beside };
	}
	resolvedCache.set(value, current);
	return current;
}

/** References one after another. */
const maxReferences = 20;

const pointerCache = new WeakMap<OpenApiDocument, Map<string, unknown>>();

/** The JSON at `#/components/schemas/Contact/properties/address`, references on the way followed. */
function pointedAt(document: OpenApiDocument, reference: string, depth = 0): unknown {
	if (!reference.startsWith('#/') || depth > maxReferences) return undefined;
	const cachedValues = getOrCreate(pointerCache, document, () => new Map<string, unknown>());
	if (cachedValues.has(reference)) return cachedValues.get(reference);
	countSteps(document, 1);
	// The reference leads nowhere until it is resolved, as it may refer to itself.
	cachedValues.set(reference, undefined);
	if (reference.length > maxReferenceLength) return undefined;
	let value: unknown = document;
	for (const key of stepsOf(reference.slice(2))) {
		const { $ref } = (isObjectOrList(value) ? value : {}) as { $ref?: unknown };
		if (typeof $ref === 'string') value = pointedAt(document, $ref, depth + 1);
		if (!isObjectOrList(value) || !Object.hasOwn(value, key)) return undefined;
		value = (value as Record<string, unknown>)[key];
	}
	cachedValues.set(reference, value);
	return value;
}

/** Characters. */
const maxReferenceLength = 2_000;

/** The steps of a JSON Pointer in a URL fragment (RFC 6901, section 6). */
export const stepsOf = (pointer: string): string[] =>
	pointer.split('/').map((step) => decoded(step).replace(/~1/g, '/').replace(/~0/g, '~'));

function decoded(step: string): string {
	try {
		return decodeURIComponent(step);
	} catch {
		return step;
	}
}

const isObjectOrList = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The members of an object that have a value. */
export function defined<T extends object>(object: T): Partial<T> {
	return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>;
}
