import { describeList, summaryOf, type ListDescription } from './listing';
import { pathItemAt, type OpenApiDocument } from './openapi';
import { describeWrite, type WriteDescription } from './writing';

/** What the service's own document says of one kind of record; what it does not offer is absent. */
export interface ResourceDescription {
	list?: ListDescription;
	create?: WriteDescription;
	update?: WriteDescription;
	upsert?: WriteDescription;
	delete?: WriteDescription;
	/** Names of the fields a simplified record has. */
	summary: string[];
}

/**
 * Reads what a document says of the records at `path`.
 *
 * @param path collection path without version prefix, such as `/contacts`
 * @returns undefined where the document does not know the path
 */
export function describeResource(
	document: OpenApiDocument,
	path: string,
): ResourceDescription | undefined {
	// The prefix stands in the paths or in the address of the server.
	const prefix = `/v1${path}` in document.paths ? `/v1${path}` : path;
	const collection = pathItemAt(document, prefix);
	if (!collection) return undefined;
	const itemPath = Object.keys(document.paths).find(
		(key) => key.startsWith(`${prefix}/{`) && key.indexOf('/', prefix.length + 1) === -1,
	);
	const item = itemPath === undefined ? undefined : pathItemAt(document, itemPath);

	const description: ResourceDescription = { summary: [] };
	if (collection.get) {
		description.list = describeList(document, collection, collection.get);
		description.summary = summaryOf(document, collection.get);
	}
	if (collection.post) description.create = describeWrite(document, collection, 'post');
	if (collection.put) description.upsert = describeWrite(document, collection, 'put');
	if (item?.patch) description.update = describeWrite(document, item, 'patch');
	else if (item?.put) description.update = describeWrite(document, item, 'put');
	if (item?.delete) description.delete = describeWrite(document, item, 'delete');
	return description;
}
