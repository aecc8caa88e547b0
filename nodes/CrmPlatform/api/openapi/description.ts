import { getOrCreate } from '../../base/maps';
import { withoutMembers } from '../../base/ownMembers';
import type { Field } from '../../fields/field';
import {
	describeList,
	recordFieldsOf,
	summaryFieldNames,
	type ListDescription,
	type RecordField,
} from './listing';
import { operationOf, type OpenApiDocument, type PathItem } from './openapi';
import { collectionIn, isParameter, pathItemAt } from './paths';
import { describeJob, describeWrite, type WriteDescription } from './writing';

/** A kind of record as the service's document describes it; operations it does not offer are absent. */
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
	/** The fields of a record in a response; empty if the document does not describe them. */
	fields: RecordField[];
	/** Names of the fields a simplified record has. */
	summary: string[];
}

// Parsing takes tens of milliseconds, so descriptions are cached as long as the document lives.
const descriptionCache = new WeakMap<OpenApiDocument, Map<string, ResourceDescription | undefined>>();

/**
 * Reads the description of the records at `path`, once for each document.
 *
 * @param path collection path without version prefix, such as `/contacts`; a parameter in braces
 * may have any name
 * @returns undefined if the document does not describe the path
 */
export function describeResource(
	document: OpenApiDocument,
	path: string,
): ResourceDescription | undefined {
	const inDocument = getOrCreate(descriptionCache, document, () => new Map<string, ResourceDescription | undefined>());
	return getOrCreate(inDocument, path, () => readResource(document, path));
}

function readResource(document: OpenApiDocument, path: string): ResourceDescription | undefined {
	const prefix = collectionIn(document, path);
	const collection = pathItemAt(document, prefix);
	if (prefix === undefined || !collection) return undefined;
	const write = (pathItem: PathItem | undefined, verb: Parameters<typeof describeWrite>[3]): WriteDescription | undefined => {
		if (!pathItem || !operationOf(pathItem, verb)) return undefined;
		const described = describeWrite(document, prefix, pathItem, verb);
		const { match } = verb === 'put' && pathItem === collection ? described : (description.upsert ?? {});
		const isUnique = ({ name }: Field) => match?.values.includes(name);
		return { ...described, fields: described.fields.map((field) => (isUnique(field) ? { ...field, unique: true } : field)) };
	};
	const list = operationOf(collection, 'get');

	const under = Object.keys(document.paths).flatMap((key) => {
		if (!key.startsWith(`${prefix}/`)) return [];
		const [id, ...steps] = key.slice(prefix.length + 1).split('/');
		const pathItem = isParameter(id) ? pathItemAt(document, key) : undefined;
		return pathItem ? [{ pathItem, steps }] : [];
	});
	const recordPathItem = under.find(({ steps }) => steps.length === 0)?.pathItem;
	const tag = under.find(({ steps: [step, id, ...more] }) => step === 'tags' && isParameter(id) && more.length === 0);

	const description: ResourceDescription = lazily<ResourceDescription>({
		list: () => {
			const described = list && describeList(document, collection, list);
			const job = list && describeJob(document, prefix, list);
			return described && job ? { ...described, job } : described;
		},
		create: () => write(collection, 'post'),
		upsert: () => write(collection, 'put'),
		update: () => write(recordPathItem, 'patch') ?? replacing(write(recordPathItem, 'put'), description.fields),
		delete: () => write(recordPathItem, 'delete'),
		addTag: () => write(tag?.pathItem, 'put'),
		removeTag: () => write(tag?.pathItem, 'delete'),
		actions: () =>
			Object.fromEntries(
				under.flatMap(({ pathItem, steps: [step, ...more] }) => {
					const action = step === undefined || more.length > 0 ? undefined : write(pathItem, 'post');
					return step !== undefined && action ? [[step, action]] : [];
				}),
			),
		fields: () => (list ? recordFieldsOf(document, list) : []),
		summary: () => summaryFieldNames(description.fields, description.list ?? {}),
	});
	return description;
}

/**
 * The description of a write that replaces records; without batches, since each record is read first. Read-only members are
 * not sent; undescribed members are, unless the description forbids them.
 */
function replacing(described: WriteDescription | undefined, recordFields: RecordField[]): WriteDescription | undefined {
	if (!described) return undefined;
	const { readOnly = [], isClosed, ...description } = withoutMembers(described, 'batch');
	const members = new Set(description.fields.map(({ path: [member = ''] }) => member));
	const unsent = new Set(['id', ...readOnly, ...recordFields.flatMap(({ name, isReadOnly }) => (isReadOnly ? [name] : []))]);
	return { ...description, replaces: true, sends: (member) => members.has(member) || !(isClosed || unsent.has(member)) };
}

/** An object whose members are read on first use: most descriptions need only one or two of them. */
function lazily<T extends object>(readers: { [Name in keyof T]-?: () => T[Name] | undefined }): T {
	const object = {} as T;
	for (const name of Object.keys(readers) as Array<keyof T>) {
		const get = () => {
			const value = readers[name]();
			Object.defineProperty(object, name, { value, enumerable: true });
			return value;
		};
		Object.defineProperty(object, name, { get, configurable: true, enumerable: true });
	}
	return object;
}
