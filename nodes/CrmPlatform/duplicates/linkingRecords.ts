import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { allFilters, currentFields, customFieldsIfAny, type CustomFields } from '../api/customFields';
import { collectionName, wholePath, type Collection } from '../api/http/path';
import { ruleNumber } from '../api/http/rules';
import { inParallel } from '../api/inParallel';
import { filterQuery } from '../api/lists/filterQuery';
import { readPages } from '../api/lists/pages';
import { isRecordLink, withNewId, withReplacedIds } from '../api/openapi/linkFields';
import type { ResourceDescription } from '../api/openapi/description';
import type { WriteDescription } from '../api/openapi/writing';
import { nameFields } from '../api/record';
import { canonicalText, hasSameValue } from '../base/json';
import { chunks } from '../base/lists';
import { setAtPath } from '../base/ownMembers';
import type { FieldChange } from '../changes/apply';
import { allCustomFields, type Field } from '../fields/field';
import { valueShape } from '../fields/fieldKinds';
import { valueIn } from '../fields/keys';
import {
	maxIds, collectionPathsOf, identified, wholeListIfShort, withFields, type RecordList, type IdentifiedRecord,
} from '../lookUp/lookUp';
import type { Resource } from '../model';
import { isBlank } from '../values/blank';

/** A collection whose records may link to the records of another one. */
export interface LinkingCollection {
	resource: Resource;
	recordList: RecordList;
	/** The fields with such links, and the filters that find records by them. */
	linkFields: Array<{ field: Field; filter: Field }>;
}

/**
 * @param target the collection of the linked records
 * @throws Error in the user's words if links cannot be found or moved: they would be lost
 */
export async function linkingCollections(api: Connection, types: Resource[], target: Collection): Promise<LinkingCollection[]> {
	const found: LinkingCollection[] = [];
	for (const resource of types) {
		const description = await api.describe(resource.path);
		if (!description?.list) continue;
		const { list, update, fields: described } = description;
		if (!update) {
			if (described.some(hasLinksTo(target))) throw lostLinks(`The CRM cannot update the records of ${wholePath(resource.path)}`);
			continue;
		}
		const paths = await collectionPathsOf(api, resource);
		const mayHaveLinks = update.fields.some((field) => field.name === allCustomFields || hasLinksTo(target)(field));
		if (!paths && mayHaveLinks) throw lostLinks('The CRM does not list its custom objects', 'Merge the records in the CRM.');
		for (const path of paths ?? []) {
			const custom = await customFieldsWithLinks(api, path, update.fields, target);
			const filters = allFilters(list, currentFields(custom));
			const linkFields = [...update.fields, ...currentFields(custom)].filter(isLinkTo(target)).map((field) => {
				if (custom?.readOnly.includes(field)) throw lostLinks(`${field.label} of ${wholePath(path)} is read-only`, 'Make it writable as long as you merge.');
				const filter = filters.find(({ name, linksTo }) => (field.linksTo ? linksTo?.includes(target) : name === field.name));
				if (filter) return { field, filter };
				throw lostLinks(`The CRM cannot find records of ${wholePath(path)} by ${field.label}`);
			});
			reportLinksLeft(api.notices, path, description, custom, target);
			const names = nameFields.filter((name) => described.some((field) => field.name === name));
			const fields = ['version', ...names, ...linkFields.map(({ field: { path: [name = ''] } }) => name)];
			if (linkFields.length > 0) found.push({ resource, recordList: { api, path, list, filters, fields }, linkFields });
		}
	}
	return found;
}

const isLinkTo = (target: Collection) => (field: Field): boolean =>
	isRecordLink(field) && (field.target === target || field.linksTo?.includes(target) === true);

/** Whether a field is such a link, or its objects have some. */
const hasLinksTo = (target: Collection) => (field: Field): boolean => isLinkTo(target)(field) || field.linksWithin?.includes(target) === true;

/** The custom fields of a collection. @throws Error in the user's words if it is unknown which of them link to the target */
async function customFieldsWithLinks(api: Connection, path: Collection, fields: Field[], target: Collection): Promise<CustomFields | undefined> {
	const custom = await customFieldsIfAny(api, path, fields);
	if (!custom && fields.some(({ name }) => name === allCustomFields)) throw lostLinks('The credential may not read custom fields', 'Use one that may.');
	const mayLink = ({ reference_resource: linked }: IDataObject) => linked === collectionName(target) || (!isBlank(linked) && typeof linked !== 'string');
	const unread = custom?.notUnderstood.find(mayLink);
	if (!unread) return custom;
	throw lostLinks(`The definition of the custom field ${String(unread.key)} of ${wholePath(path)} is not understood (${ruleNumber(17)})`);
}

/** Says which links stay with the deleted records. @throws Error in the user's words if a person could have set them, but no update moves them */
function reportLinksLeft(
	notices: Set<string>, path: Collection, description: ResourceDescription, custom: CustomFields | undefined, target: Collection,
): void {
	const { create, update, fields: described } = description;
	for (const { label } of custom?.unwritable.filter((field) => isLinkTo(target)(field) && !custom.readOnly.includes(field)) ?? []) {
		notices.add(`${label} of ${wholePath(path)} is archived, so its links stay with the deleted records. Restore the field before you merge to move them.`);
	}
	const within = update?.fields.find((field) => field.linksWithin?.includes(target));
	if (within) throw lostLinks(`Links within ${within.label} of ${wholePath(path)} cannot be moved`);
	const isWritten = (write: WriteDescription | undefined, { path: [name] }: Field) =>
		write?.fields.some((field) => field.path[0] === name && hasLinksTo(target)(field)) === true;
	for (const field of [...described, ...(create?.fields ?? [])].filter((each) => hasLinksTo(target)(each) && !isWritten(update, each))) {
		if (isWritten(create, field)) throw lostLinks(`The CRM cannot change ${field.label} of ${wholePath(path)}`);
		notices.add(`${field.label} of ${wholePath(path)} is set by the CRM, so its links may stay with the deleted records.`);
	}
}

const lostLinks = (problem: string, advice = ''): Error => new Error(`${problem}, so links would be lost. Nothing was written. ${advice}`.trim());

/** Finds the records that link to any of these: by filters or, for fewer requests, in the whole list, and then with others among them. */
export async function recordsLinkingTo(
	{ recordList, linkFields }: LinkingCollection, target: Collection, ids: string[],
): Promise<IdentifiedRecord[]> {
	const { api, path, list, fields } = recordList;
	const queries = linkFields.flatMap(({ filter }) => {
		const values = ids.map((id) => (filter.linksTo ? `${collectionName(target)}:${id}` : id));
		return valueShape(filter) === 'list' ? chunks(values, maxIds).map((some) => filterQuery(filter, some)) : values.map((value) => filterQuery(filter, value));
	});
	const allRecords = await wholeListIfShort(api, { path, list, fields }, queries.length);
	if (allRecords) return allRecords;
	const found = new Map<string, IdentifiedRecord>();
	await inParallel(queries, async (query) => {
		for await (const { records } of readPages(api.send, { path, list, query: withFields(list, query as never, fields) })) {
			for (const record of identified(records)) found.set(record.id, record);
		}
	});
	return [...found.values()];
}

/** Replaces links by links to other records, each once. @param newIdOf the id in place of another; undefined if it stays */
export function withLinksMoved(
	record: IDataObject, { linkFields }: LinkingCollection, target: Collection, newIdOf: (id: string) => string | undefined,
): { changes: FieldChange[]; patch: IDataObject } {
	const changes: FieldChange[] = [];
	const patch: IDataObject = {};
	for (const { field } of linkFields) {
		const from = valueIn(record, field);
		const moved = withReplacedIds(field, from, (collection, id) => (collection === target ? withNewId(id, newIdOf(String(id))) : id));
		const to = Array.isArray(moved) ? [...new Map(moved.map((entry) => [canonicalText(entry), entry as unknown])).values()] : moved;
		if (hasSameValue(from, moved)) continue;
		changes.push({ field: field.name, from, to });
		setAtPath(patch, field.path, to);
	}
	return { changes, patch };
}
