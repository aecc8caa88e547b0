import { getOrCreate } from '../../base/maps';
import { percentDecoded } from '../http/path';
import { countSteps, leaveOut } from './work';
import { partReaders, type OpenApiDocument, type OpenApiOperation, type PathItem } from './openapi';

type Referable = { [PartType in keyof typeof partReaders]: NonNullable<ReturnType<(typeof partReaders)[PartType]>> };

// Many operations refer to the same parts. Parsed parts live as long as the document.
const parsedCache = new WeakMap<object, Map<string, unknown>>();

/** A part of a document, parsed once; undefined if it is unreadable. */
function parsedAs<PartType extends keyof Referable>(type: PartType, json: unknown): Referable[PartType] | undefined {
	if (!isObjectOrList(json)) return parse(type, json);
	const parsedByType = getOrCreate(parsedCache, json, () => new Map<string, unknown>());
	return getOrCreate(parsedByType, type, () => parse(type, json)) as Referable[PartType] | undefined;
}

function parse<PartType extends keyof Referable>(type: PartType, json: unknown): Referable[PartType] | undefined {
	return partReaders[type](isTooDeep(json) ? pruned(json) : json) as Referable[PartType] | undefined;
}

/** A copy without what is nested too deeply for recursive readers. */
function pruned(json: unknown, depth = 0): unknown {
	if (!isObjectOrList(json)) return json;
	if (depth >= maxDepth) return {};
	if (Array.isArray(json)) return json.map((element) => pruned(element, depth + 1));
	return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, pruned(value, depth + 1)]));
}

/** Deeper than any real description, and far from a stack overflow. */
const maxDepth = 200;

/** Whether JSON is nested too deeply for recursive readers. */
export function isTooDeep(json: unknown): boolean {
	let level = [json].filter(isObjectOrList);
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > maxDepth) return true;
		// Loops, since a document has 100,000 parts.
		const next: object[] = [];
		for (const parent of level) for (const value of Object.values(parent)) if (isObjectOrList(value)) next.push(value);
		level = next;
	}
	return false;
}

/** An operation of a path, if the path has it. */
export function operationOf(
	pathItem: PathItem,
	verb: 'get' | 'post' | 'put' | 'patch' | 'delete',
): OpenApiOperation | undefined {
	return parsedAs('operation', pathItem[verb]);
}

/** The description of a successful response. */
export const successOf = ({ responses = {} }: OpenApiOperation): unknown =>
	responses['200'] ?? responses['206'] ?? responses['2XX'] ?? responses.default;

/** Reads a part of the document and follows references; an empty object if it cannot be read. */
export function readPart<PartType extends keyof Referable>(
	document: OpenApiDocument,
	json: unknown,
	type: PartType,
): Referable[PartType] {
	if (isObjectOrList(json) && !parsedCache.has(json) && isTooDeep(json)) leaveOut(document, `parts nested more than ${maxDepth} levels deep`);
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

const pointerCache = new WeakMap<OpenApiDocument, Map<string, unknown>>();

/** The JSON at a reference such as `#/components/schemas/Contact/properties/address`, which may lead through others. */
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

/** Maximum characters of a reference. */
const maxReferenceLength = 2_000;

/** The steps of a JSON Pointer in a URL fragment (RFC 6901, section 6). */
const stepsOf = (pointer: string): string[] =>
	pointer.split('/').map((step) => percentDecoded(step).replace(/~1/g, '/').replace(/~0/g, '~'));

const isObjectOrList = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** An object without its undefined members. */
export function defined<T extends object>(object: T): Partial<T> {
	return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>;
}
