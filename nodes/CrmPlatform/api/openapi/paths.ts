import { getOrCreate } from '../../base/maps';
import { isObject } from '../../base/json';
import { readPart, type OpenApiDocument, type PathItem } from './openapi';

/** The operations of a path as the document writes it; undefined if the document lacks the path. */
export function pathItemAt(document: OpenApiDocument, path: string | undefined): PathItem | undefined {
	const pathItem = path === undefined ? undefined : document.paths[path];
	return isObject(pathItem) ? readPart(document, pathItem, 'pathItem') : undefined;
}

/** A path of the document, parsed once: a document may have a thousand, and each request looks one up. */
interface DocumentPath {
	/** The path as the document writes it. */
	key: string;
	/** Its steps, without a trailing slash. */
	steps: string[];
	/** The path with empty braces. */
	shape: string;
	parameters: number;
}

interface DocumentPaths {
	all: DocumentPath[];
	bySteps: Map<number, DocumentPath[]>;
	collections: Map<string, string | undefined>;
	posts: Map<string, string>;
}

const pathsCache = new WeakMap<OpenApiDocument, DocumentPaths>();

function pathsOf(document: OpenApiDocument): DocumentPaths {
	const cachedPaths = pathsCache.get(document);
	if (cachedPaths) return cachedPaths;
	const paths: DocumentPaths = { all: [], bySteps: new Map(), collections: new Map(), posts: new Map() };
	for (const [key, pathItem] of Object.entries(document.paths)) {
		const steps = key.replace(/\/+$/, '').split('/');
		const path = { key, steps, shape: shapeOf(key), parameters: steps.filter(isParameter).length };
		paths.all.push(path);
		getOrCreate(paths.bySteps, steps.length, () => []).push(path);
		const post = isObject(pathItem) ? pathItem.post : undefined;
		const id = isObject(post) ? post.operationId : undefined;
		if (typeof id === 'string' && !paths.posts.has(id)) paths.posts.set(id, key);
	}
	pathsCache.set(document, paths);
	return paths;
}

const shapeOf = (path: string): string => path.replace(/\{[^/]*\}/g, '{}').replace(/\/+$/, '');

export const isParameter = (step = ''): boolean => step.startsWith('{');

/**
 * The path of the records at `path` as the document writes it. The version prefix is part of the document's paths or of
 * its server's address.
 *
 * @param path collection path without version prefix, such as `/contacts`; a parameter in braces may
 * have any name
 * @returns undefined if the document has no such path, or several
 */
export function collectionIn(document: OpenApiDocument, path: string): string | undefined {
	return getOrCreate(pathsOf(document).collections, path, () => findCollection(document, path));
}

function findCollection(document: OpenApiDocument, path: string): string | undefined {
	const { all } = pathsOf(document);
	const end = `/v1${shapeOf(path)}`;
	const exact = all.find(({ shape }) => shape === end) ?? all.find(({ shape }) => shape === shapeOf(path));
	if (exact) return exact.key;
	// The path may have its parameters filled in: `/custom-objects/cars/records`. A parameter at the end is a record.
	const filledIn = [`/v1${path}`, path].flatMap((candidatePath) => templatesFor(document, candidatePath));
	return filledIn.find(({ key, parameters }) => parameters > 0 && !key.endsWith('}'))?.key;
}

/** The document's paths that match a path, the ones with the fewest parameters first (OpenAPI 3.1, section 4.8.8.2). */
export function templatesFor(document: OpenApiDocument, path: string): DocumentPath[] {
	const steps = path.replace(/\/+$/, '').split('/');
	const alike = pathsOf(document).bySteps.get(steps.length) ?? [];
	return alike
		.filter((template) => template.steps.every((step, i) => isParameter(step) || step === steps[i]))
		.sort((a, b) => a.parameters - b.parameters);
}

/** The path of the POST operation with this operationId. */
export const pathOfPost = (document: OpenApiDocument, operationId: string): string | undefined =>
	pathsOf(document).posts.get(operationId);
