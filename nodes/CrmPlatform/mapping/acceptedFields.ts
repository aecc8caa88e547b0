import type { IDataObject } from 'n8n-workflow';

import { readCustomFieldsIfAllowed, type CustomFields } from '../api/customFields';
import { linksOf } from '../api/openapi/linkFields';
import { allCustomFields, customKeyOf, fieldNamed, unknownCollection, type Field } from '../fields/field';
import type { NodeRun } from '../model';
import { wordsOf } from './fieldNames';
import { commonCollection } from './sameForAll';
import type { StoredFields } from './storedFields';

/** The fields for which items can have values. */
export interface AcceptedFields {
	fields: Field[];
	/** The names of all fields of a record, including read-only fields. */
	recordFieldNames: ReadonlySet<string>;
	/** The words of their names and labels: files for people have labels. */
	recordFieldWords: ReadonlySet<string>;
}

/**
 * The fields of a write, with the account's custom fields one by one. These are read only if records have custom fields
 * and an item has a name that no other field has, since columns may omit the prefix of custom fields.
 *
 * @param objects the items, if their values are not in a form
 * @param fields the fields in the service's description
 */
export async function acceptedFields(
	run: NodeRun,
	stored: StoredFields,
	objects: Array<IDataObject | Error>,
	fields: Field[],
): Promise<AcceptedFields> {
	const names = new Set(stored.linked.map(({ linkName }) => linkName));
	if (stored.mode === 'each') for (const [name] of stored.rows) names.add(name);
	for (const object of objects) if (!(object instanceof Error)) for (const name of Object.keys(object)) names.add(name);
	const namesOfFields = fields.flatMap(({ name, path: [member = ''] }) => [name, member]);
	const standardNames = new Set(['id', ...linksOf(fields).map(({ name }) => name), ...namesOfFields]);
	const hasCustom = standardNames.delete(allCustomFields);
	if (!hasCustom || [...names].every((name) => standardNames.has(name))) return await withCustomFields(run, fields, undefined);

	const custom = await readCustomFieldsIfAllowed(run.api, commonCollection(run));
	if (!custom) {
		// A record may be picked for any of them; its collection is unknown.
		const untyped = [...names].map((name) => [name, customKeyOf(name)] as const).flatMap(([name, key]) =>
			key === undefined ? [] : [fieldNamed(name, { path: [allCustomFields, key], kind: 'any', collection: unknownCollection })]);
		return await withCustomFields(run, [...fields, ...untyped], undefined);
	}
	// A workflow may still map custom fields as a whole, perhaps from before any existed.
	const keepsWhole = stored.mode === 'each' || custom.fields.length === 0;
	return await withCustomFields(run, keepsWhole ? fields : fields.filter(({ name }) => name !== allCustomFields), custom);
}

/** Fields, with the custom fields, and the names in the records of the type. */
export async function withCustomFields(
	{ api, resource }: NodeRun,
	fields: Field[],
	custom: CustomFields | undefined,
): Promise<AcceptedFields> {
	const described = (await api.describe(resource.path))?.fields ?? [];
	return {
		fields: [...fields, ...(custom?.fields ?? [])],
		recordFieldNames: new Set([...described, ...(custom?.unwritable ?? [])].map(({ name }) => name)),
		recordFieldWords: new Set(described.flatMap(({ name, label }) => [wordsOf(name), wordsOf(label)])),
	};
}
