import { describeJob } from './jobs';
import {
	describeList,
	recordFieldsOf,
	summaryOf,
	type ListDescription,
	type RecordField,
} from './listing';
import type { OpenApiDocument, PathItem } from './openapi';
import { collectionIn, pathItemAt } from './paths';
import { describeWrite, type WriteDescription } from './writing';

/** A kind of record as the service's document describes it; an operation it does not offer is absent. */
export interface ResourceDescription {
	list?: ListDescription;
	create?: WriteDescription;
	update?: WriteDescription;
	upsert?: WriteDescription;
	delete?: WriteDescription;
	/** The actions on one record, by the last step of their path: `win`. */
	actions: Record<string, WriteDescription>;
	/** Adds a tag to a record, and removes it. */
	addTag?: WriteDescription;
	removeTag?: WriteDescription;
	/** The fields of a record in a response; empty where the document does not tell. */
	fields: RecordField[];
	/** Names of the fields a simplified record has. */
	summary: string[];
}

// Reading a document takes tens of milliseconds; what was read lives as long as the document.
const known = new WeakMap<OpenApiDocument, Map<string, ResourceDescription | undefined>>();

/**
 * Reads the description of the records at `path`, once for each document.
 *
 * @param path collection path without version prefix, such as `/contacts`; a parameter in braces
 * may have any name
 * @returns undefined where the document does not know the path
 */
export function describeResource(
	document: OpenApiDocument,
	path: string,
): ResourceDescription | undefined {
	const inDocument = known.get(document) ?? new Map<string, ResourceDescription | undefined>();
	known.set(document, inDocument);
	if (!inDocument.has(path)) inDocument.set(path, readResource(document, path));
	return inDocument.get(path);
}

function readResource(document: OpenApiDocument, path: string): ResourceDescription | undefined {
	const prefix = collectionIn(document, path);
	const collection = prefix === undefined ? undefined : pathItemAt(document, prefix);
	if (prefix === undefined || !collection) return undefined;
	const write = (pathItem: PathItem, verb: Parameters<typeof describeWrite>[3]) =>
		describeWrite(document, prefix, pathItem, verb);

	const description: ResourceDescription = { fields: [], summary: [], actions: {} };
	if (collection.get) {
		description.list = describeList(document, collection, collection.get);
		const job = describeJob(document, prefix, collection.get);
		if (job) description.list.job = job;
		description.fields = recordFieldsOf(document, collection.get);
		description.summary = summaryOf(description.fields);
	}
	if (collection.post) description.create = write(collection, 'post');
	if (collection.put) description.upsert = write(collection, 'put');

	for (const [key, steps] of pathsUnder(document, prefix)) {
		const [id, step, ...more] = steps;
		const pathItem = isParameter(id) ? pathItemAt(document, key) : undefined;
		if (!pathItem) continue;
		if (step === undefined) {
			if (pathItem.patch) description.update = write(pathItem, 'patch');
			else if (pathItem.put) description.update = write(pathItem, 'put');
			if (pathItem.delete) description.delete = write(pathItem, 'delete');
		} else if (more.length === 0 && pathItem.post) {
			description.actions[step] = write(pathItem, 'post');
		} else if (step === 'tags' && more.length === 1 && isParameter(more[0])) {
			if (pathItem.put) description.addTag = write(pathItem, 'put');
			if (pathItem.delete) description.removeTag = write(pathItem, 'delete');
		}
	}
	return description;
}

/** The paths below a collection, with their steps from there on. */
function pathsUnder({ paths }: OpenApiDocument, collection: string): Array<[string, string[]]> {
	return Object.keys(paths)
		.filter((key) => key.startsWith(`${collection}/`))
		.map((key) => [key, key.slice(collection.length + 1).split('/')]);
}

const isParameter = (step = ''): boolean => step.startsWith('{');
