import { isExpression, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

import { outcomeField } from '../api/record';
import type { Connection } from '../api/connection';
import { parsedValue } from '../base/json';
import { getOrCreate } from '../base/maps';
import { checkExact } from '../base/numbers';
import { isLink, linksOf } from '../api/openapi/linkFields';
import { isToolCall } from '../api/toolNode';
import { decideValue, type EvaluatedValue, type ValueOrigin, type WhenCleared } from '../fields/decideValue';
import { customFieldPrefix, type Field, type InputValue } from '../fields/field';
import { FieldError } from '../fields/fieldError';
import { asId } from '../lookUp/names';
import type { Execution } from '../model';
import { listed } from '../base/lists';
import { isBlank } from '../values/blank';
import { readOption } from '../values/readers';
import type { AcceptedFields } from './acceptedFields';
import { usualNamesIn, type MatchedFields } from './columnMatch';
import { Evaluation } from './expressions/evaluation';
import { isFilledByModel } from './expressions/template';
import { wordsOf } from './fieldNames';
import { namesRecord } from './linkedIds';
import { ObjectFieldReader } from './objectFields';
import type { StoredFields, StoredLinkedRecord } from './storedFields';
import { inventedFields, nothingToSend, type UnsentValue } from './unsentValues';

/** An item, once it is read. */
export interface ReadItem {
	values: EvaluatedValue[];
	/** The values that are not sent. */
	unsent: UnsentValue[];
	/** Why none of its values can be sent. */
	refusal?: Error;
}

/** Reads the values of an item. @throws Error in the user's words if an expression fails, or the item cannot be read */
type ReadValues = (item: number) => ReadItem;

/** The items, before it is known which fields they accept. */
interface ItemReaders {
	/** The names for which an item has values; without the names of an unreadable object. */
	names(item: number): string[];
	readerFor(accepted: AcceptedFields): ReadValues;
}

/**
 * The readers of the values, and of the linked records, which come last.
 *
 * @param whenCleared what clearing a field does: two values for one field conflict if each would change it
 */
export function itemReaders(
	execution: Pick<Execution, 'n8n' | 'api' | 'resource' | 'rows'>,
	stored: StoredFields,
	whenCleared: WhenCleared,
	otherNames: string[],
): ItemReaders {
	const { n8n } = execution;
	const { names, readerFor } = stored.mode === 'each' ? formReaders(n8n, stored) : objectReaders(execution, stored, whenCleared, otherNames);
	return {
		names: (item) => [...names(item), ...stored.linked.map(({ linkName }) => linkName)],
		readerFor(accepted) {
			const readLinked = linkedReader(n8n, stored.linked, accepted.fields);
			const readMapped = readerFor(accepted);
			return (item) => {
				const { values, unsent, refusal } = readMapped(item);
				const linked = readLinked(item);
				const all = { values: [...values, ...linked.values], unsent: [...unsent, ...linked.unsent] };
				return refusal && linked.values.length === 0 ? { ...all, refusal } : all;
			};
		},
	};
}

type Stored<Mode> = Extract<StoredFields, { mode: Mode }>;

/** Reads the rows of a form. */
function formReaders(n8n: IExecuteFunctions, stored: Stored<'each'>): ItemReaders {
	const names = stored.rows.map(([name]) => name);
	return {
		names: () => names,
		readerFor({ fields }) {
			const byName = new Map(fields.map((field) => [field.name, field]));
			const rows = stored.rows.flatMap(([name, value]) => {
				const field = byName.get(name);
				const origin: ValueOrigin = isFilledByModel(value) ? 'model' : 'chosen';
				return field ? [{ field, label: field.label, value, origin }] : [];
			});
			const evaluation = new Evaluation(n8n, rows);
			const unsent = unknown(names.filter((name) => !byName.has(name)));
			return (item) => {
				const results = evaluation.valuesOf(item);
				return { values: rows.map(({ field, origin }, i) => ({ field, value: results[i], origin })), unsent };
			};
		},
	};
}

const unknown = (names: string[]): UnsentValue[] => names.map((name) => ({ reason: 'unknown', name }));

/**
 * Reads the records picked beside the values, as values of the fields that link to them; records of one list become one value.
 *
 * @throws Error in the user's words if too many records were picked
 */
function linkedReader(n8n: IExecuteFunctions, records: StoredLinkedRecord[], fields: Field[]): ReadValues {
	const links = new Map(linksOf(fields).map((link) => [link.name, link]));
	const picked = records.flatMap(({ linkName, record, mayBeName }) => {
		const link = links.get(linkName);
		return link ? [{ link, label: link.label, value: record, mayBeName }] : [];
	});
	const twice = picked.find(({ link }, i) => !link.isOneOfMany && picked.findIndex((other) => other.link === link) !== i);
	if (twice) throw new Error(`Linked Records: ${twice.label} accepts one record, but several are selected. Keep only one.`);
	const unknownLinks = unknown(records.map(({ linkName }) => linkName).filter((name) => !links.has(name)));
	const evaluation = new Evaluation(n8n, picked);
	return (item) => {
		const results = evaluation.valuesOf(item);
		const values = new Map<Field, unknown>();
		const unsent = [...unknownLinks];
		for (const [i, { link, value, mayBeName }] of picked.entries()) {
			const { field } = link;
			const id = pickedValue(field, results[i], mayBeName);
			const ids = idsIn(id);
			if (ids.length === 0 && isFilledByModel(value)) continue;
			if (results[i] === undefined) unsent.push({ reason: 'noValue', name: field.label });
			else values.set(field, link.isOneOfMany ? [...idsIn(values.get(field)), ...ids.map(link.valueFor)] : id);
		}
		return { values: [...values].map(([field, value]) => ({ field, value, origin: 'chosen' })), unsent };
	};
}

/** @throws FieldError if the record is named, and it is unknown to which records the field links */
function pickedValue(field: Field, result: unknown, mayBeName: boolean): unknown {
	if (mayBeName && isLink(field)) return result;
	if (mayBeName && idsIn(result).some((id) => namesRecord(field, id))) throw new FieldError(field, unknownCollection);
	return asId(field, result);
}

const unknownCollection =
	'a record cannot be looked up by name, because the credential may not read custom fields, which say what they link to. Use the ID.';

/** The ids that an expression returned: any number of them. */
function idsIn(value: unknown): unknown[] {
	if (Array.isArray(value)) return value;
	return isBlank(value) ? [] : [value];
}

/** Reads the members of an object for each item: of the input item itself, or of what the parameter's JSON is for it. */
function objectReaders(
	{ n8n, api, resource, rows }: Pick<Execution, 'n8n' | 'api' | 'resource' | 'rows'>,
	stored: Stored<'automatic' | 'json'>,
	whenCleared: WhenCleared,
	otherNames: string[],
): ItemReaders {
	const objectOf = stored.mode === 'json' ? jsonObjects(n8n, stored.json) : (item: number) => (rows ?? n8n.getInputData())[item]?.json ?? {};
	const originOf = originsOf(n8n, stored);
	// A model would take a success to cover everything it has sent.
	const refusesUnknown = stored.mode === 'json' && isFilledByModel(stored.json);
	// The columns of a file have the names of their fields already, and the description of another service has other names.
	const mayHaveUsualNames = stored.mode !== 'json' && !rows && api.isSelfDescribed();
	return {
		names(item) {
			try {
				return Object.keys(objectOf(item));
			} catch {
				// The item fails with this error in its turn.
				return [];
			}
		},
		readerFor(accepted) {
			const { fields, recordFieldNames } = accepted;
			const usualNames = mayHaveUsualNames ? usualNamesOf(n8n, api, { collection: resource.path.slice(1), ...accepted }, otherNames) : new Map<string, Field>();
			const fieldReader = new ObjectFieldReader(fields, recordFieldNames);
			return (item) => {
				const object = renamedToFields(objectOf(item), usualNames);
				const origin = originOf(item);
				const isSkipped = (field: Field, value: unknown) => decideValue({ field, value, origin }, whenCleared).action === 'skip';
				const { values, unknown: unknownNames, notObjects } = fieldReader.read(object, isSkipped);
				const invented = refusesUnknown ? unknownNames.filter((name) => !recordFieldNames.has(name)) : [];
				if (invented.length > 0 && fields.length > 0) throw inventedFields(invented, fields);
				const names = Object.keys(object);
				return {
					values: values.map((fieldValue) => ({ ...fieldValue, origin })),
					unsent: [...notObjects.map((name): UnsentValue => ({ reason: 'notObject', name })), ...unsentMembersOf(object, unknownNames, values, accepted)],
					...(values.length === 0 && names.length > 0 && { refusal: nothingToSend(names, fields) }),
				};
			};
		},
	};
}

/** The fields that the names of all items mean as usual names in other systems, which the user is told. */
function usualNamesOf(n8n: IExecuteFunctions, api: Connection, target: MatchedFields, otherNames: string[]): Map<string, Field | undefined> {
	const usual = usualNamesIn(n8n.getInputData().map(({ json }) => json), target, otherNames);
	const renamed = [...usual].flatMap(([name, field]) => (field ? [`“${name}” into “${field.label}”`] : []));
	if (renamed.length > 0) api.notices.add(`By usual names in other systems: ${listed(renamed, 10)}. To change that, map each field.`);
	return usual;
}

/** @param usualNames the fields of names that are no names of fields; names without one are left out */
function renamedToFields(object: IDataObject, usualNames: ReadonlyMap<string, Field | undefined>): IDataObject {
	if (usualNames.size === 0) return object;
	const isKept = ([name]: [string, unknown]) => !usualNames.has(name) || usualNames.get(name) !== undefined;
	return Object.fromEntries(Object.entries(object).filter(isKept).map(([name, value]) => [usualNames.get(name)?.name ?? name, value]));
}

/** What the blanks of an item do: a model's clear nothing, and those of other items what the option Empty Cells says. */
function originsOf(n8n: IExecuteFunctions, stored: Stored<'automatic' | 'json'>): (item: number) => ValueOrigin {
	if (stored.mode === 'json') {
		const isModels = isFilledByModel(stored.json) || (isToolCall(n8n) && isExpression(stored.json));
		return () => (isModels ? 'model' : 'chosen');
	}
	const evaluation = new Evaluation(n8n, [{ label: 'Empty Cells', value: stored.emptyCells }]);
	return (item) => {
		const emptyCells = readOption('Empty Cells', evaluation.valuesOf(item)[0], ['leave', 'clear']);
		if (emptyCells === 'leave') return 'cellThatLeaves';
		return isToolCall(n8n) ? 'model' : 'cellThatClears';
	};
}

/** The values of an object that no field takes, except those that belong to a record that was read. */
function unsentMembersOf(object: IDataObject, names: string[], values: InputValue[], { fields, recordFieldNames, recordFieldWords }: AcceptedFields): UnsentValue[] {
	// A record that was read contains values that only the service sets: ids, times, counters.
	const isRecord = names.length > 0 && Object.keys(object).some((name) => wordsOf(name) === 'id');
	return names.flatMap((name): UnsentValue[] => {
		const isReadOnly = recordFieldNames.has(name);
		const namesake = isReadOnly ? fields.find((field) => field.name === customFieldPrefix + name) : undefined;
		if (namesake && !values.some(({ field }) => field === namesake)) return [{ reason: 'readOnly', name: namesake.name }];
		return isRecord && (isReadOnly || name === outcomeField || recordFieldWords?.has(wordsOf(name))) ? [] : unknown([name]);
	});
}

const jsonLabel = 'Fields (JSON)';

function jsonObjects(n8n: IExecuteFunctions, value: unknown): (item: number) => IDataObject {
	const evaluation = new Evaluation(n8n, [{ label: jsonLabel, value }]);
	// Evaluated once: an expression that changes its item would return something else the second time.
	const objects = new Map<number, IDataObject>();
	return (item) => getOrCreate(objects, item, () => jsonObject(evaluation.valuesOf(item)[0], isExpression(value)));
}

/**
 * @param isEvaluated whether an expression returned the value: a number inserted into its text may have lost digits
 * @throws Error in the user's words if the value is not a JSON object
 */
function jsonObject(value: unknown, isEvaluated: boolean): IDataObject {
	const parsed = parsedValue(value);
	if (isEvaluated && typeof value === 'string' && parsed !== undefined) checkExact(jsonLabel, JSON.parse(value));
	if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
		return parsed as IDataObject;
	}
	const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
	throw new Error(`${jsonLabel}: “${text.slice(0, 200)}” is not an object such as { "name": "value" }`);
}
