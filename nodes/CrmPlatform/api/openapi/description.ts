import { keptFor } from '../../base/maps';
import { lazily, withoutMembers } from '../../base/ownMembers';
import type { Field } from '../../fields/field';
import type { Collection } from '../http/path';
import { describeList, recordFieldsOf, summaryFieldNames, type ListDescription, type RecordField } from './listing';
import { collectionIn, isParameter, type OpenApiDocument } from './openapi';
import { operationAt, type WritingVerb } from './operation';
import { describeWrite, type WriteDescription } from './writing';

/** A kind of record as the service's document describes it; operations it does not offer are absent. */
export interface ResourceDescription {
	list?: ListDescription;
	create?: WriteDescription;
	update?: WriteDescription;
	upsert?: WriteDescription;
	delete?: WriteDescription;
	/** The actions on one record, by the last step of their path: `win`. */
	recordActions: Record<string, WriteDescription>;
	/** Adds a tag to a record, and removes it. */
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
export const describeResource = keptFor(readResource);

function readResource(document: OpenApiDocument, path: Collection): ResourceDescription | undefined {
	const collection = collectionIn(document, path);
	if (collection === undefined) return undefined;
	const write = (template: string | undefined, verb: WritingVerb): WriteDescription | undefined => {
		const operation = operationAt(document, template, verb);
		// An update without its fields would hide links from a merge, which deletes what they lead to.
		if (!operation?.takesJson) return undefined;
		const described = describeWrite(collection, operation, verb);
		const { match } = verb === 'put' && template === collection ? described : (description.upsert ?? {});
		const isUnique = ({ name }: Field) => match?.values.includes(name);
		return { ...described, fields: described.fields.map((field) => (isUnique(field) ? { ...field, unique: true } : field)) };
	};
	const list = operationAt(document, collection, 'get');

	const under = Object.keys(document.paths).flatMap((template) => {
		const [id, ...steps] = template.startsWith(`${collection}/`) ? template.slice(collection.length + 1).split('/') : [];
		return isParameter(id) ? [{ template, steps }] : [];
	});
	const record = under.find(({ steps }) => steps.length === 0)?.template;
	const tag = under.find(({ steps: [step, id, ...more] }) => step === 'tags' && isParameter(id) && more.length === 0)?.template;

	const description: ResourceDescription = lazily<ResourceDescription>({
		list: () => list && describeList(collection, list),
		create: () => write(collection, 'post'),
		upsert: () => write(collection, 'put'),
		update: () => write(record, 'patch') ?? replacing(write(record, 'put')),
		delete: () => write(record, 'delete'),
		addTag: () => write(tag, 'put'),
		removeTag: () => write(tag, 'delete'),
		recordActions: () =>
			Object.fromEntries(
				under.flatMap(({ template, steps: [step, ...more] }) => {
					const action = more.length > 0 ? undefined : write(template, 'post');
					return step !== undefined && action ? [[step, action]] : [];
				}),
			),
		fields: () => (list ? recordFieldsOf(list) : []),
		summary: () => summaryFieldNames(description.fields, description.list ?? {}),
	});

	/**
	 * The description of a write that replaces records; without batches, since each record is read first. Read-only members
	 * are not sent; undescribed members are, unless the description forbids them.
	 */
	function replacing(described: WriteDescription | undefined): WriteDescription | undefined {
		if (!described) return undefined;
		const { properties = {}, additionalProperties } = operationAt(document, record, 'put')!.body;
		const isReadOnly = (member: string) => description.fields.some((field) => field.isReadOnly && field.name === member);
		const sends = (member: string) =>
			Object.hasOwn(properties, member)
				? !properties[member]!.readOnly
				: additionalProperties !== false && member !== 'id' && !isReadOnly(member);
		return { ...withoutMembers(described, 'batch'), replaces: true, sends };
	}
	return description;
}
