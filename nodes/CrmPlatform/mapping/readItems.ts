import { isExpression, type IDataObject, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';

import { readCustomFieldsIfAllowed } from '../api/customFields';
import { outcomeField } from '../api/record';
import { orThrow } from '../base/results';
import { isObject, parsedValue } from '../base/json';
import { checkExact } from '../base/numbers';
import { isLink, linksOf, type Link } from '../api/openapi/linkFields';
import { isToolCall } from '../api/toolNode';
import { decideValue, type EvaluatedValue, type GivenBy, type WhenCleared } from '../fields/decideValue';
import { allCustomFields, customFieldPrefix, customKeyOf, fieldNamed, unknownCollection, type Field } from '../fields/field';
import { FieldError } from '../fields/fieldError';
import { asId, namesRecord } from '../lookUp/names';
import type { NodeRun } from '../model';
import { listed, readEach } from '../base/lists';
import { isBlank } from '../values/blank';
import { parseOption } from '../values/parsers';
import { foreignNamesIn } from './columnMatch';
import { Evaluation } from './expressions/evaluation';
import { isFilledByModel } from './expressions/template';
import { meaningsAmong, wordsOf } from './fieldNames';
import { fieldsInObject } from './objectFields';
import { pickReader, type PickedField } from './pickedFields';
import { commonCollection } from './sameForAll';
import type { StoredFields, StoredLinkedRecord } from './storedFields';
import { inventedFields, nothingToSend, type UnsentValue } from './unsentValues';

/** Which values of items are written, and into which fields. */
export interface Mapping {
	stored: StoredFields;
	/** The fields in the service's description. */
	fields: Field[];
	/** Records that the user picks for fields of their own. */
	picked?: PickedField[];
	/** What clearing a field does: two values for one field conflict if each would change it. */
	whenCleared: WhenCleared;
	/** Names of item values with other purposes. */
	otherNames?: string[];
}

/** The values of an item for fields, as it has them. */
export interface ReadItem {
	/** The values of linked records come last. */
	values: EvaluatedValue[];
	/** The values that are not sent. */
	unsent: UnsentValue[];
	/** Why none of its values can be sent. */
	refusal?: Error | undefined;
}

/**
 * Reads items: the rows of a form, or members of objects; and the records picked beside them.
 *
 * @returns an error for an item that cannot be read, such as one of whose expressions fails
 */
export async function readItems(run: NodeRun, items: INodeExecutionData[], mapping: Mapping): Promise<Array<ReadItem | Error>> {
	const { n8n } = run;
	const { stored, fields, picked = [], otherNames = [] } = mapping;
	const objects = await objectsOf(n8n, stored, items);
	const accepted = await acceptedFields(run, stored, objects ?? [], fields);
	const { rows, linked, unknownNames } = formEntries(stored, accepted.fields);
	const emptyCells = { label: 'Empty Cells', value: stored.mode === 'automatic' ? stored.emptyCells : 'leave' };
	const evaluation = new Evaluation(n8n, [...rows, ...linked, emptyCells]);
	const readObject = objectReader(run, mapping, accepted);
	const readPicks = await pickReader(run, picked);
	return await readEach(items.length, (item): ReadItem => {
		const results = evaluation.valuesOf(item);
		const mapped: ReadItem = objects
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

/**
 * The rows of a form and the records picked beside it, with their fields; and the names that belong to no field.
 *
 * @throws Error in the user's words if several records are picked for a field that accepts one
 */
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

/** The fields for which items can have values. */
interface AcceptedFields {
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
async function acceptedFields(
	run: NodeRun,
	stored: StoredFields,
	objects: Array<IDataObject | Error>,
	fields: Field[],
): Promise<AcceptedFields> {
	const { api, resource } = run;
	const names = new Set(stored.linked.map(({ linkName }) => linkName));
	if (stored.mode === 'each') for (const [name] of stored.rows) names.add(name);
	for (const object of objects) if (!(object instanceof Error)) for (const name of Object.keys(object)) names.add(name);
	const described = (await api.describe(resource.path))?.fields ?? [];
	const recordFieldNames = new Set(described.map(({ name }) => name));
	const recordFieldWords = new Set(described.flatMap(({ name, label }) => [wordsOf(name), wordsOf(label)]));
	const standard: AcceptedFields = { fields, recordFieldNames, recordFieldWords };
	const namesOfFields = fields.flatMap(({ name, path: [member = ''] }) => [name, member]);
	const standardNames = new Set(['id', ...linksOf(fields).map(({ name }) => name), ...namesOfFields]);
	const hasCustom = standardNames.delete(allCustomFields);
	if (!hasCustom || [...names].every((name) => standardNames.has(name))) return standard;

	const custom = await readCustomFieldsIfAllowed(api, commonCollection(run));
	if (!custom) {
		// A record may be picked for any of them; its collection is unknown.
		const untyped = [...names].map((name) => [name, customKeyOf(name)] as const).flatMap(([name, key]) =>
			key === undefined ? [] : [fieldNamed(name, { path: [allCustomFields, key], kind: 'any', collection: unknownCollection })]);
		return { ...standard, fields: [...fields, ...untyped] };
	}
	// A workflow may still map custom fields as a whole, perhaps from before any existed.
	const keepsWhole = stored.mode === 'each' || custom.fields.length === 0;
	return {
		...standard,
		fields: [...(keepsWhole ? fields : fields.filter(({ name }) => name !== allCustomFields)), ...custom.fields],
		recordFieldNames: new Set([...recordFieldNames, ...custom.unwritableNames]),
	};
}

/**
 * The records picked beside the values, as values of the fields that link to them; records of one list become one value.
 *
 * @param results what the expressions of the records returned
 * @throws FieldError if a record is named, and it is unknown to which records its field links
 */
function linkedValues(records: Array<StoredLinkedRecord & { link: Link }>, results: unknown[]): ReadItem {
	const values = new Map<Field, unknown>();
	const unsent: UnsentValue[] = [];
	for (const [i, { link: { field, isOneOfMany, valueFor }, value, mayBeName }] of records.entries()) {
		const result = results[i];
		if (mayBeName && !isLink(field) && idsOfLink(result).some((id) => namesRecord(field, id))) throw new FieldError(field, unknownLink);
		const id = mayBeName && isLink(field) ? result : asId(field, result);
		const ids = idsOfLink(id);
		if (ids.length === 0 && isFilledByModel(value)) continue;
		if (result === undefined) unsent.push({ reason: 'noValue', name: field.label });
		else values.set(field, isOneOfMany ? [...idsOfLink(values.get(field)), ...ids.map(valueFor)] : id);
	}
	return { values: [...values].map(([field, value]) => ({ field, value, givenBy: 'form' })), unsent };
}

const unknownLink =
	'a record cannot be looked up by name, because the credential may not read custom fields, which say what they link to. Use the ID.';

/** The ids that an expression returned: any number of them. */
function idsOfLink(value: unknown): unknown[] {
	if (Array.isArray(value)) return value;
	return isBlank(value) ? [] : [value];
}

/** The objects with the values of the items: the items themselves, or what the parameter's JSON is for each; none for a form. */
async function objectsOf(n8n: IExecuteFunctions, stored: StoredFields, items: INodeExecutionData[]) {
	if (stored.mode === 'each') return undefined;
	if (stored.mode === 'automatic') return items.map(({ json }) => json);
	const { json } = stored;
	const evaluation = new Evaluation(n8n, [{ label: jsonLabel, value: json }]);
	return await readEach(items.length, (item) => jsonObject(evaluation.valuesOf(item)[0], isExpression(json)));
}

/** @returns reads the members of an object; `emptyCells` is what the option Empty Cells is for its item */
function objectReader(
	run: NodeRun,
	{ stored, whenCleared, otherNames = [] }: Mapping,
	accepted: AcceptedFields,
): (object: IDataObject, emptyCells: unknown) => ReadItem {
	const { fields, recordFieldNames, recordFieldWords } = accepted;
	const meaningsOf = meaningsAmong(fields, recordFieldNames);
	const foreignNames = foreignNamesOf(run, stored, accepted, otherNames);
	const givers = giversOf(stored, isToolCall(run.n8n));
	// A model would take a success to cover everything it has sent.
	const refusesUnknown = stored.mode === 'json' && isFilledByModel(stored.json);
	return (members, emptyCells) => {
		const givenBy = givers[parseOption('Empty Cells', emptyCells, ['leave', 'clear'])];
		const object = renameToFields(members, foreignNames);
		const isSkipped = (field: Field, value: unknown) => decideValue({ field, value, givenBy }, whenCleared).do === 'skip';
		const { values, unknown, notObjects } = fieldsInObject(meaningsOf, object, isSkipped);
		const invented = refusesUnknown ? unknown.filter((name) => !recordFieldNames.has(name)) : [];
		if (invented.length > 0 && fields.length > 0) throw inventedFields(invented, fields);
		const names = Object.keys(object);
		// A record that was read contains values that only the service sets: ids, times, counters.
		const isRecord = unknown.length > 0 && names.some((name) => wordsOf(name) === 'id');
		const unsentOf = (name: string): UnsentValue[] => {
			const isReadOnly = recordFieldNames.has(name);
			const namesake = isReadOnly ? fields.find((field) => field.name === customFieldPrefix + name) : undefined;
			if (namesake && !values.some(({ field }) => field === namesake)) return [{ reason: 'readOnly', name: namesake.name }];
			return isRecord && (isReadOnly || name === outcomeField || recordFieldWords.has(wordsOf(name))) ? [] : [{ reason: 'unknown', name }];
		};
		return {
			values: values.map((fieldValue) => ({ ...fieldValue, givenBy })),
			unsent: [
				...notObjects.map((name): UnsentValue => ({ reason: 'notObject', name })),
				...unknown.flatMap(unsentOf),
			],
			refusal: values.length === 0 && names.length > 0 ? nothingToSend(names, fields) : undefined,
		};
	};
}

/** Who gives the members of objects: of an item that no model fills in, the option Empty Cells decides. */
function giversOf(stored: StoredFields, isTool: boolean): Record<'leave' | 'clear', GivenBy> {
	if (stored.mode !== 'json') return { leave: 'cellThatLeaves', clear: isTool ? 'model' : 'cellThatClears' };
	const givenBy = isFilledByModel(stored.json) || (isTool && isExpression(stored.json)) ? 'model' : 'form';
	return { leave: givenBy, clear: givenBy };
}

/** The fields that the names of all items mean as usual names in other systems, which the user is told. */
function foreignNamesOf({ n8n, api, resource, rows }: NodeRun, { mode }: StoredFields, accepted: AcceptedFields, otherNames: string[]) {
	// The columns of a file have the names of their fields already, and the description of another service has other names.
	if (mode !== 'automatic' || rows || !api.isSelfDescribed()) return new Map<string, Field | undefined>();
	const usual = foreignNamesIn(n8n.getInputData().map(({ json }) => json), { collection: resource.path, ...accepted }, otherNames);
	const renamed = [...usual].flatMap(([name, field]) => (field ? [`“${name}” into “${field.label}”`] : []));
	if (renamed.length > 0) api.notices.add(`By usual names in other systems: ${listed(renamed, 10)}. To change that, map each field.`);
	return usual;
}

/** @param foreignNames names without a field are left out */
function renameToFields(object: IDataObject, foreignNames: ReadonlyMap<string, Field | undefined>): IDataObject {
	if (foreignNames.size === 0) return object;
	const isKept = ([name]: [string, unknown]) => !foreignNames.has(name) || foreignNames.get(name) !== undefined;
	return Object.fromEntries(Object.entries(object).filter(isKept).map(([name, value]) => [foreignNames.get(name)?.name ?? name, value]));
}

const jsonLabel = 'Fields (JSON)';

/**
 * @param isEvaluated whether an expression returned the value: a number inserted into its text may have lost digits
 * @throws Error in the user's words if the value is not a JSON object
 */
function jsonObject(value: unknown, isEvaluated: boolean): IDataObject {
	const parsed = parsedValue(value);
	if (isEvaluated && typeof value === 'string' && parsed !== undefined) checkExact(jsonLabel, JSON.parse(value));
	if (isObject(parsed)) return parsed;
	const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
	throw new Error(`${jsonLabel}: “${text.slice(0, 200)}” is not an object such as { "name": "value" }`);
}
