import { onceFor } from '../../base/maps';
import { lazily, withoutMembers } from '../../base/ownMembers';
import type { Field } from '../../fields/field';
import type { Collection } from '../http/path';
import { describeList, recordFieldsOf, summaryFieldNames, type ListDescription, type RecordField } from './listing';
import { collectionIn, isParameter, type OpenApiDocument } from './openapi';
import { operationAt, type WritingVerb } from './operation';
import type { Schema } from './schema';
import { describeWrite, type WriteDescription } from './writing';

/** A kind of record as the service's document describes it; operations it does not offer are absent. */
export interface ResourceDescription {
	list?: ListDescription;
	create?: WriteDescription;
	update?: WriteDescription;
	upsert?: WriteDescription;
	delete?: WriteDescription;
	/** The actions on one record, by the last segment of their path: `win`. */
	recordActions: Record<string, WriteDescription>;
	addTag?: WriteDescription;
	removeTag?: WriteDescription;
	/** The fields of a record in a response; empty if the document does not describe them. */
	fields: RecordField[];
	/** Names of the fields a simplified record has. */
	summary: string[];
}

/**
 * Reads the description of the records at `path`, once for each document: parsing takes tens of milliseconds.
 *
 * @param path a parameter in braces may have any name
 * @returns undefined if the document does not describe the path
 */
export const describeResource = onceFor(readResource);

function readResource(document: OpenApiDocument, path: Collection): ResourceDescription | undefined {
	const collection = collectionIn(document, path);
	if (collection === undefined) return undefined;
	const { record, tag, actions } = pathsUnder(document, collection);
	const list = operationAt(document, collection, 'get');
	const write = (template: string | undefined, verb: WritingVerb) =>
		withUniqueFields(writeAt(document, collection, template, verb), description.upsert);

	const description: ResourceDescription = lazily<ResourceDescription>({
		list: () => list && describeList(collection, list),
		create: () => write(collection, 'post'),
		upsert: () => {
			const upsert = writeAt(document, collection, collection, 'put');
			return withUniqueFields(upsert, upsert);
		},
		update: () => {
			const replacement = operationAt(document, record, 'put');
			return write(record, 'patch') ?? (replacement && replacing(write(record, 'put'), replacement.body, description.fields));
		},
		delete: () => write(record, 'delete'),
		addTag: () => write(tag, 'put'),
		removeTag: () => write(tag, 'delete'),
		recordActions: () => Object.fromEntries(actions.flatMap(({ name, template }) => {
			const action = write(template, 'post');
			return action ? [[name, action]] : [];
		})),
		fields: () => (list ? recordFieldsOf(list) : []),
		summary: () => summaryFieldNames(description.fields, description.list ?? {}),
	});
	return description;
}

function pathsUnder(document: OpenApiDocument, collection: string) {
	const under = Object.keys(document.paths).flatMap((template) => {
		const [id, ...segments] = template.startsWith(`${collection}/`) ? template.slice(collection.length + 1).split('/') : [];
		return isParameter(id) ? [{ template, segments }] : [];
	});
	const isTag = ([name, id, ...more]: string[]) => name === 'tags' && isParameter(id) && more.length === 0;
	return {
		record: under.find(({ segments }) => segments.length === 0)?.template,
		tag: under.find(({ segments }) => isTag(segments))?.template,
		actions: under.flatMap(({ template, segments: [name, ...more] }) => (name !== undefined && more.length === 0 ? [{ name, template }] : [])),
	};
}

function writeAt(document: OpenApiDocument, collection: string, template: string | undefined, verb: WritingVerb): WriteDescription | undefined {
	const operation = operationAt(document, template, verb);
	// An update without its fields would hide links from a merge, which deletes what they lead to.
	return operation?.takesJson ? describeWrite(collection, operation, verb) : undefined;
}

/** A write whose fields are unique if an upsert finds records by them. */
function withUniqueFields(write: WriteDescription | undefined, upsert: WriteDescription | undefined): WriteDescription | undefined {
	const isUnique = ({ name }: Field) => upsert?.match?.values.includes(name);
	return write && { ...write, fields: write.fields.map((field) => (isUnique(field) ? { ...field, unique: true } : field)) };
}

/**
 * The description of a write that replaces records; without batches and jobs, since each record is read first. Read-only
 * members are not sent; undescribed members are, unless the description forbids them.
 */
function replacing(write: WriteDescription | undefined, body: Schema, recordFields: RecordField[]): WriteDescription | undefined {
	const { properties = {}, additionalProperties } = body;
	const isReadOnly = (member: string) => recordFields.some((field) => field.isReadOnly && field.name === member);
	const sends = (member: string) =>
		Object.hasOwn(properties, member)
			? !properties[member]!.readOnly
			: additionalProperties !== false && member !== 'id' && !isReadOnly(member);
	return write && { ...withoutMembers(write, 'batch', 'job'), replaces: true, sends };
}
