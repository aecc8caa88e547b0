import type { z } from 'zod';

import { parsers, type OpenApiDocument, type OpenApiOperation, type PathItem } from './openapi';

type Referable = { [Kind in keyof typeof parsers]: z.infer<(typeof parsers)[Kind]> };

// Many operations refer to the same parts. What was read lives as long as the document.
const readAlready = new WeakMap<object, Map<string, unknown>>();

/** A part of a document, parsed once; undefined where it cannot be read. */
function parsedAs<Kind extends keyof Referable>(kind: Kind, json: unknown): Referable[Kind] | undefined {
	if (!isObjectOrList(json)) return parse(kind, json);
	const known = readAlready.get(json) ?? new Map<string, unknown>();
	readAlready.set(json, known);
	if (!known.has(kind)) known.set(kind, parse(kind, json));
	return known.get(kind) as Referable[Kind] | undefined;
}

function parse<Kind extends keyof Referable>(kind: Kind, json: unknown): Referable[Kind] | undefined {
	const parsed = parsers[kind].safeParse(json);
	return parsed.success ? (parsed.data as Referable[Kind]) : undefined;
}

/** An operation of a path; undefined where it has none. */
export function operationOf(
	pathItem: PathItem,
	verb: 'get' | 'post' | 'put' | 'patch' | 'delete',
): OpenApiOperation | undefined {
	return parsedAs('operation', pathItem[verb]);
}

/** Reads a part of the document, references followed; an object that says nothing where it cannot be read. */
export function readPart<Kind extends keyof Referable>(
	document: OpenApiDocument,
	json: unknown,
	kind: Kind,
): Referable[Kind] {
	return resolve(document, parsedAs(kind, json) ?? {}, kind);
}

/**
 * Follows references inside the document (JSON Pointer, RFC 6901). What stands beside a reference
 * takes precedence over what it refers to (OpenAPI 3.1, section 4.8.23; generators do it for 3.0).
 *
 * @returns an object that says nothing where the reference leads nowhere or in a circle
 */
export function resolve<Kind extends keyof Referable>(
	document: OpenApiDocument,
	value: Referable[Kind],
	kind: Kind,
): Referable[Kind] {
	let current: Referable[Kind] & { $ref?: string | undefined } = value;
	for (let depth = 0; current.$ref !== undefined; depth++) {
		const { $ref, ...siblings } = current;
		const target = depth > 20 ? undefined : parsedAs(kind, pointedAt(document, $ref));
		current = { ...target, ...defined(siblings) };
	}
	return current;
}

/** The JSON at `#/components/schemas/Contact/properties/address`, references on the way followed. */
function pointedAt(document: OpenApiDocument, reference: string, depth = 0): unknown {
	if (!reference.startsWith('#/') || depth > 20) return undefined;
	let value: unknown = document;
	for (const step of reference.slice(2).split('/')) {
		const { $ref } = (isObjectOrList(value) ? value : {}) as { $ref?: unknown };
		if (typeof $ref === 'string') value = pointedAt(document, $ref, depth + 1);
		const key = decoded(step).replace(/~1/g, '/').replace(/~0/g, '~');
		if (!isObjectOrList(value) || !Object.hasOwn(value, key)) return undefined;
		value = (value as Record<string, unknown>)[key];
	}
	return value;
}

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
