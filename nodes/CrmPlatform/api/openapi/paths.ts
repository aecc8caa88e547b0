import { z } from 'zod';

import { isObject } from '../http/json';
import type { OpenApiDocument, PathItem } from './openapi';
import { readPart } from './parts';

/** The operations of a path as written in the document; undefined if the document lacks the path. */
export function pathItemAt(document: OpenApiDocument, path: string): PathItem | undefined {
	const pathItem = document.paths[path];
	return isObject(pathItem) ? readPart(document, pathItem, 'pathItem') : undefined;
}

/**
 * The document's own path of the records at `path`. The version prefix stands in the paths or in the
 * address of the server, and so may the folder that the API is in.
 *
 * @param path collection path without version prefix, such as `/contacts`; a parameter in braces may
 * have any name
 * @returns undefined where the document has no such path, or several
 */
export function collectionIn({ paths }: OpenApiDocument, path: string): string | undefined {
	const shape = (one: string) => one.replace(/\{[^/]*\}/g, '{}').replace(/\/+$/, '');
	const keys = Object.keys(paths);
	for (const wanted of [shape(`/v1${path}`), shape(path)]) {
		const key = keys.find((one) => shape(one) === wanted);
		if (key !== undefined) return key;
	}
	const inFolder = keys.filter((one) => {
		const folder = shape(one).slice(0, -shape(`/v1${path}`).length);
		return shape(one) === `${folder}/v1${shape(path)}` && !folder.includes('{}');
	});
	if (inFolder.length > 0) return inFolder.length === 1 ? inFolder[0] : undefined;
	// With its parameters filled in: `/custom-objects/cars/records`. A parameter at the end is a record.
	return keys.find(
		(one) => one.includes('{') && !one.endsWith('}') && [`/v1${path}`, path].some(fits(one)),
	);
}

/** Whether a path is one of those a template with parameters in braces stands for. */
function fits(template: string): (path: string) => boolean {
	const steps = template.split('/');
	return (path) => {
		const others = path.split('/');
		return (
			others.length === steps.length &&
			steps.every((step, i) => step.startsWith('{') || step === others[i])
		);
	};
}

/** The path of the POST operation with that operationId. */
export function pathOfPost({ paths }: OpenApiDocument, operationId: string): string | undefined {
	const named = z.object({ post: z.object({ operationId: z.literal(operationId) }) });
	return Object.keys(paths).find((path) => named.safeParse(paths[path]).success);
}

/**
 * Why requests for the records at `path` would go to the wrong address: the document may name a
 * folder that the API is in, in its servers (relative to the document's own address, OpenAPI 3.1,
 * section 4.8.5) or in its paths. Servers on other hosts say nothing: a gateway may stand between.
 *
 * @param address the user's base URL, without version prefix
 * @param documentUrl where the document was read
 * @returns the reason in the user's words; undefined where the address is right or nothing is known
 */
export function wrongBaseUrl(
	document: OpenApiDocument,
	path: string,
	address: string,
	documentUrl: string,
): string | undefined {
	const key = collectionIn(document, path);
	if (key === undefined || !URL.canParse(address)) return undefined;
	const folder = /^((?:\/(?!v1\/)[^/{]+)+)\/v1\//.exec(key)?.[1] ?? '';
	const base = new URL(address);
	const bases = (document.servers ?? [{ url: '/' }])
		.filter(({ url }) => !url.includes('{') && URL.canParse(url, documentUrl))
		.map(({ url }) => new URL(url, documentUrl))
		.filter(({ origin }) => origin === base.origin)
		.map(({ pathname }) => pathname.replace(/\/+$/, '').replace(/\/v1$/, '') + folder);
	const [expected] = bases;
	if (expected === undefined || bases.some((one) => base.pathname.replace(/\/+$/, '').endsWith(one))) {
		return undefined;
	}
	return `According to the API description, the API is at ${base.origin}${expected}, but the base URL in the credential is ${address}. Correct the base URL.`;
}
