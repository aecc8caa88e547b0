import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { readCustomFieldsIfAllowed } from '../api/customFields';
import type { Collection } from '../api/http/path';
import { isLink, linksOf, type Link } from '../api/openapi/linkFields';
import { getOrCreate } from '../base/maps';
import { exactnessProblem } from '../base/numbers';
import { orThrow, resultsOrErrors } from '../base/results';
import { isDigits } from '../fields/fieldKinds';
import { lacksValue, type EvaluatedValue, type GivenBy, type WhenCleared } from '../fields/convertValue';
import { allCustomFields, customKeyOf, type Field, FieldError, fieldNamed, unknownCollection } from '../fields/field';
import { asId, namesRecord, textOfName } from '../lookUp/names';
import type { NodeRun } from '../model';
import { isBlank } from '../values/blank';
import { Evaluation } from './expressions/evaluation';
import { isFilledByModel } from './expressions/template';
import { withCustomFields, type AcceptedFields } from './fieldNames';
import { isFromList, pickedId, storedParameter } from './locator';
import { objectReader, objectsOf, type ReadItem } from './readObject';
import { commonCollection } from './sameForAll';
import type { StoredFields, StoredLinkedRecord } from './storedFields';
import type { UnsentValue } from './unsentValues';

/** A field that holds the id of another record, picked from a searchable list. */
export interface PickedField {
	/** Name of the field: `assignee_id`. */
	field: string;
	/** Name of the node's parameter: `assigneeId`. */
	name: string;
	displayName: string;
	/** The method that searches the records. */
	method: string;
	/** The collection of the records, if no field of the service says it. */
	collection?: Collection;
	isOptional?: boolean;
	description?: string;
}

/** The body of an item's write, and the values that it is without, as they cannot be sent: as the item has them, and why. */
export interface Body {
	body: IDataObject;
	refusedValues: Array<{ field: Field; value: unknown; error: FieldError }>;
}

/** Which values of items are written, and into which fields. */
export interface Mapping {
	stored: StoredFields;
	/** By default, all input items. */
	items?: INodeExecutionData[];
	/** Whether they are the rows of a file. */
	areRows?: boolean;
	/** The fields in the service's description. */
	fields: Field[];
	/** Records that the user picks for fields of their own. */
	picked?: PickedField[];
	/** What clearing a field does: two values for one field conflict if each would change it. */
	whenCleared: WhenCleared;
	/** Names of item values with other purposes. */
	otherNames?: string[];
	/** Whether an item is written without the values that cannot be sent. */
	leavesOut?: boolean;
}

/**
 * Reads items: the rows of a form, or members of objects; and the records picked beside them.
 *
 * @returns an error for an item that cannot be read, such as one of whose expressions fails
 */
export async function readItems(run: NodeRun, mapping: Mapping): Promise<Array<ReadItem | Error>> {
	const { n8n } = run;
	const { stored, items = n8n.getInputData(), areRows, fields, picked = [], whenCleared, otherNames = [] } = mapping;
	const objects = await objectsOf(n8n, stored, items);
	const accepted = await acceptedFields(run, stored, objects ?? [], fields);
	const { rows, linked, unknownNames } = formEntries(stored, accepted.fields);
	const emptyCells = { label: 'Empty Cells', value: stored.mode === 'automatic' ? stored.emptyCells : 'leave' };
	const evaluation = new Evaluation(n8n, [...rows, ...linked, emptyCells]);
	const readObject = objects && objectReader(run, stored, accepted, { whenCleared, otherNames, areRows });
	const readPicks = await pickReader(run, picked);
	return await resultsOrErrors(items.length, (item): ReadItem => {
		const results = evaluation.valuesOf(item);
		const mapped: ReadItem = readObject
			? readObject(orThrow(objects[item]!), results.at(-1))
			: { values: rows.map(({ field, givenBy }, i) => ({ field, value: results[i], givenBy })), unsent: [] };
		const links = linkedValues(linked, results.slice(rows.length));
		const unsent = [...mapped.unsent, ...unknownNames, ...links.unsent];
		return {
			values: [...mapped.values, ...links.values, ...readPicks(item)],
			unsent: unsent.filter(({ reason, name }) => reason !== 'unknown' || !otherNames.includes(name)),
			refusal: links.values.length === 0 ? mapped.refusal : undefined,
		};
	});
}

/** Rows and records with their fields, and names without one. @throws Error in the user's words for several records in a field of one */
function formEntries(stored: StoredFields, fields: Field[]) {
	const byName = new Map(fields.map((field) => [field.name, field]));
	const links = new Map(linksOf(fields).map((link) => [link.name, link]));
	const unknownNames: UnsentValue[] = [];
	const rows = (stored.mode === 'each' ? stored.rows : []).flatMap(([name, value]) => {
		const field = byName.get(name);
		if (!field) unknownNames.push({ reason: 'unknown', name });
		const givenBy: GivenBy = isFilledByModel(value) ? 'model' : 'form';
		return field ? [{ field, label: field.label, value, givenBy }] : [];
	});
	const linked = stored.linked.flatMap((record) => {
		const link = links.get(record.linkName);
		if (!link) unknownNames.push({ reason: 'unknown', name: record.linkName });
		return link ? [{ ...record, link, label: link.label }] : [];
	});
	const twice = linked.find(({ link }, i) => !link.isOneOfMany && linked.findIndex((other) => other.link === link) !== i);
	if (twice) throw new Error(`Linked Records: ${twice.label} accepts one record, but several are selected. Keep only one.`);
	return { rows, linked, unknownNames };
}

/**
 * The records picked beside the values, as values of the fields that link to them; records of one list become one value.
 *
 * @param results what the expressions of the records returned
 * @throws FieldError if a record is named, and it is unknown to which records its field links
 */
function linkedValues(records: Array<StoredLinkedRecord & { link: Link }>, results: unknown[]): ReadItem {
	const values = new Map<Field, unknown>();
	const newNames = new Map<Field, Set<Collection>>();
	const unsent: UnsentValue[] = [];
	for (const [i, { link: { field, target, isOneOfMany, valueFor }, value, mayBeName, isNewName }] of records.entries()) {
		const result = isNewName ? asName(results[i]) : results[i];
		if (isNewName) getOrCreate(newNames, field, () => new Set()).add(target);
		if (mayBeName && !isLink(field) && idsOfLink(result).some((id) => namesRecord(field, id))) throw new FieldError(field, unknownLink);
		const id = mayBeName && isLink(field) ? result : asId(field, result);
		const ids = idsOfLink(id);
		if (ids.length === 0 && isFilledByModel(value)) continue;
		if (lacksValue(field, result)) unsent.push({ reason: 'noValue', name: field.label });
		else values.set(field, isOneOfMany ? [...idsOfLink(values.get(field)), ...ids.map(valueFor)] : id);
	}
	return { values: [...values].map(([field, value]) => ({ field, value, givenBy: 'form', newNamesOf: newNames.get(field) })), unsent };
}

/** Returns what reads the records picked or named for an item. It throws an Error in the user's words if a required one is not picked. */
async function pickReader({ n8n, api, resource }: NodeRun, picked: PickedField[]): Promise<(item: number) => EvaluatedValue[]> {
	const fields = picked.length > 0 ? (await api.describe(resource.path))?.update?.fields ?? [] : [];
	const picks = picked.map((pick) => {
		const { field: fieldName, name, displayName: label, collection } = pick;
		const described = collection === undefined ? fields.find((field) => field.name === fieldName) : undefined;
		const field = described ?? fieldNamed(fieldName, { label, ...(collection !== undefined && { target: collection }) });
		return { ...pick, field, isId: isFromList(storedParameter(n8n, name, '')) };
	});
	return (item) => picks.flatMap(({ field, name, displayName, isOptional, isId }): EvaluatedValue[] => {
		const id = pickedId(n8n, name, item);
		if (id !== '') return [{ field, value: isId ? asId(field, id) : id, givenBy: 'form' }];
		if (isOptional) return [];
		throw new Error(`${displayName} is empty. Choose from the list, or enter a name or an ID.`);
	});
}

/** A name of digits, which would be an ID. A rounded number stays one, and is refused. */
function asName(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(asName);
	const text = String(value ?? '');
	return isDigits(text) && exactnessProblem(value) === undefined ? textOfName('name', text.trim()) : value;
}

const unknownLink =
	'a record cannot be looked up by name, because the credential may not read custom fields, which say what they link to. Use the ID.';

/** The ids that an expression returned: any number of them. */
function idsOfLink(value: unknown): unknown[] {
	if (Array.isArray(value)) return value;
	return isBlank(value) ? [] : [value];
}

/**
 * The fields of a write, with the account's custom fields one by one. These are read only if records have custom fields
 * and an item has a name that no other field has, since columns may omit the prefix of custom fields.
 *
 * @param objects the items, if their values are not in a form
 */
async function acceptedFields(
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
			key === undefined ? [] : [fieldNamed(name, { path: [allCustomFields, key], kind: 'any', target: unknownCollection })]);
		return await withCustomFields(run, [...fields, ...untyped], undefined);
	}
	// A workflow may still map custom fields as a whole, perhaps from before any existed.
	const keepsWhole = stored.mode === 'each' || custom.fields.length === 0;
	return await withCustomFields(run, keepsWhole ? fields : fields.filter(({ name }) => name !== allCustomFields), custom);
}
