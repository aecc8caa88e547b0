import { isObject } from '../../base/json';
import { getOrCreate } from '../../base/maps';
import { pointerSteps } from '../../base/ownMembers';
import { type Collection, percentDecoded, withoutVersionPrefix } from '../http/path';

/** An OpenAPI 3 document: megabytes of JSON, of which a node needs two operations. The readers below read an object of it on demand. */
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
		// Loops, since a document has 100,000 objects.
		const next: object[] = [];
		for (const inner of level) {
			if (refersElsewhere(inner)) throw new Error('it refers to other documents');
			for (const value of Object.values(inner)) if (isObjectOrList(value)) next.push(value);
		}
		level = next;
	}
	return json as OpenApiDocument;
}

const refersElsewhere = (json: object): boolean => '$ref' in json && typeof json.$ref === 'string' && !json.$ref.startsWith('#');

const isObjectOrList = (value: unknown): value is object => typeof value === 'object' && value !== null;

type Readers = Record<string, (json: unknown) => unknown>;
type Read<R extends Readers> = { [Name in keyof R]?: NonNullable<ReturnType<R[Name]>> };

/** Maximum length of a chain of references. */
const maxReferences = 20;

/**
 * Reads those members of an object that `readers` know, each object once. References inside the document are followed
 * (JSON Pointer, RFC 6901). Members beside a reference take precedence over those of its target (OpenAPI 3.1, section 4.8.23;
 * generators write them for 3.0, too).
 *
 * @returns an empty object if it is unreadable, or its reference leads nowhere or in a circle; the target itself, as
 * one object, for references without other members
 */
export function memberReader<R extends Readers>(readers: R) {
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

const objectOf = <T>(read: (json: unknown) => T | undefined) => (json: unknown): Record<string, T> | undefined => {
	const readable = Object.entries(object(json) ?? {}).filter(([, member]) => read(member) !== undefined);
	return isObject(json) ? (Object.fromEntries(readable) as Record<string, T>) : undefined;
};

export const keyword = { text, number, flag, anything, list, object, texts, textOrTexts, objectOf };

export const isParameter = (segment = ''): boolean => segment.startsWith('{');

// A document may have a thousand paths, and each request looks one up.
const segmentsCache = new WeakMap<OpenApiDocument, Array<{ template: string; segments: string[] }>>();

/** The paths in the document that match one, the fewest parameters first (OpenAPI 3.1, section 4.8.8.2). */
export function templatesFor(document: OpenApiDocument, path: string): string[] {
	const segments = path.replace(/\/+$/, '').split('/');
	const matches = (described: string[]) => described.every((segment, i) => isParameter(segment) || segment === segments[i]);
	const parameters = (described: string[]) => described.filter(isParameter).length;
	const segmentsOf = (template: string) => ({ template, segments: withoutVersionPrefix(template).split('/') });
	return getOrCreate(segmentsCache, document, () => Object.keys(document.paths).map(segmentsOf))
		.filter((described) => described.segments.length === segments.length && matches(described.segments))
		.sort((a, b) => parameters(a.segments) - parameters(b.segments))
		.map(({ template }) => template);
}

/** The document's path of the records at `path`, whose parameters may be filled in, or have any name in braces. */
export function collectionIn(document: OpenApiDocument, path: Collection): string | undefined {
	// A parameter at the end is a record.
	return templatesFor(document, path).find((template) => !template.endsWith('}'));
}
