import { isExpression, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

import { outcomeField } from '../api/answeredRecord';
import { parseJson } from '../api/http/json';
import { checkExact } from '../api/http/numbers';
import type { Field } from '../fields/field';
import { readOption } from '../values/readers';
import { customNamesake, oncePerFields, type AcceptedFields } from './acceptedFields';
import type { MappedValue, ValueOrigin } from './decideValue';
import { wordsOf } from './fieldNames';
import { evaluateValues } from './expressions/evaluateValues';
import { linkedRecords, linkedRecordValues, type LinkedRecord, type LinkedValues } from './linkedRecords';
import { objectFields, type FieldValue } from './objectFields';
import { refersToOthers } from '../api/openapi/linkFields';
import { isFilledByModel, type StoredFields } from './storedFields';
import { inventedFields, nothingToSend, type UnsentValues } from './unsentValues';

/** The values of the items, evaluated and not converted. */
interface ItemValues {
	/** The names an item has values for; those of an object that cannot be read are left out. */
	names(item: number): string[];
	/** The values of fields that may name other records. They are read before all values of the item. */
	references(item: number, accepted: AcceptedFields): FieldValue[];
	/**
	 * All values; picked records come last.
	 *
	 * @throws Error in the user's words for an item without a value that belongs to a field
	 */
	all(item: number, accepted: AcceptedFields): MappedValue[];
}

/** @param unsent collects the values left out */
export function itemValues(n8n: IExecuteFunctions, stored: StoredFields, unsent: UnsentValues): ItemValues {
	const linked = linkedRecords(n8n, stored.linked);
	return stored.mode === 'each' ? valuesByHand(n8n, stored, linked, unsent) : valuesInObjects(n8n, stored, linked, unsent);
}

type Stored<Mode> = Extract<StoredFields, { mode: Mode }>;

function valuesByHand(n8n: IExecuteFunctions, { values }: Stored<'each'>, linked: LinkedRecord[], unsent: UnsentValues): ItemValues {
	const allNames = [...values.map(([name]) => name), ...linked.map(({ field }) => field)];
	const mappingOf = oncePerFields(({ fields }) => {
		const byName = new Map(fields.map((field) => [field.name, field]));
		for (const [name] of values) if (!byName.has(name)) unsent.unknown(name);
		const mapped = values.flatMap(([name, value]) => {
			const field = byName.get(name);
			const origin: ValueOrigin = isFilledByModel(value) ? 'model' : 'chosen';
			return field ? [{ field, label: field.label, value, origin }] : [];
		});
		const records = linkedRecordValues(n8n, linked, fields, unsent);
		return { mapped, records, evaluate: evaluateValues(n8n, mapped), mayRefer: mapped.some(({ field }) => refersToOthers(field)) };
	});
	// An expression that changes its item would return something else the second time.
	const evaluatedBefore: Array<unknown[] | Error | undefined> = [];

	return {
		names: () => allNames,
		references(item, accepted) {
			const { mapped, records, evaluate, mayRefer } = mappingOf(accepted);
			const named = records.names(item);
			if (!mayRefer) return named;
			const evaluated = orError(() => evaluate(item));
			evaluatedBefore[item] = evaluated;
			if (evaluated instanceof Error) return [];
			const values = mapped.flatMap(({ field }, i): FieldValue[] => (refersToOthers(field) ? [[field, evaluated[i]]] : []));
			return [...values, ...named];
		},
		all(item, accepted) {
			const { mapped, records, evaluate } = mappingOf(accepted);
			const evaluated = evaluatedBefore[item] ?? evaluate(item);
			evaluatedBefore[item] = undefined;
			if (evaluated instanceof Error) throw evaluated;
			const ofForm = mapped.map(({ field, origin }, i): MappedValue => ({ field, value: evaluated[i], origin }));
			return [...ofForm, ...linkedValues(records, item)];
		},
	};
}

function orError<Value>(evaluate: () => Value): Value | Error {
	try {
		return evaluate();
	} catch (error) {
		return error as Error;
	}
}

function valuesInObjects(n8n: IExecuteFunctions, stored: Stored<'automatic' | 'json'>, linked: LinkedRecord[], unsent: UnsentValues): ItemValues {
	const isModels = stored.mode === 'json' && isFilledByModel(stored.json);
	const objectOf = stored.mode === 'json' ? jsonObjects(n8n, stored.json) : inputObjects(n8n);
	const originOf = stored.mode === 'json' ? (): ValueOrigin => 'chosen' : cellOrigins(n8n, stored.emptyCells);
	const readerOf = oncePerFields(({ fields, recordNames }) => ({
		read: objectFields(fields, recordNames),
		records: linkedRecordValues(n8n, linked, fields, unsent),
		plainNames: new Set(fields.filter((field) => !refersToOthers(field)).map(({ name }) => name)),
	}));

	return {
		names(item) {
			const object = orError(() => objectOf(item));
			// The item fails with this error when its turn comes.
			const names = object instanceof Error ? [] : Object.keys(object);
			return [...names, ...linked.map(({ field }) => field)];
		},
		references(item, accepted) {
			const { read, records, plainNames } = readerOf(accepted);
			const named = records.names(item);
			const object = objectOf(item);
			if (Object.keys(object).every((name) => plainNames.has(name))) return named;
			return [...read(object).values.filter(([field]) => refersToOthers(field)), ...named];
		},
		all(item, accepted) {
			const { read, records } = readerOf(accepted);
			const object = objectOf(item);
			const { values, unknown, noObjects } = read(object);
			// A model would take a success to cover everything it has sent.
			const invented = isModels ? unknown.filter((name) => !accepted.recordNames.has(name)) : [];
			if (invented.length > 0 && accepted.fields.length > 0) throw inventedFields(invented, accepted.fields);
			noObjects.forEach(unsent.noObject);
			noteUnknownNames(object, unknown, values, accepted, unsent);
			const origin = originOf(item);
			const all = [...values.map(([field, value]): MappedValue => ({ field, value, origin })), ...linkedValues(records, item)];
			const names = Object.keys(object);
			if (all.length === 0 && names.length > 0) throw nothingToSend(names, accepted.fields);
			return all;
		},
	};
}

function cellOrigins(n8n: IExecuteFunctions, emptyCells: unknown): (item: number) => ValueOrigin {
	const read = evaluateValues(n8n, [{ label: 'Empty Cells', value: emptyCells }]);
	return (item) => (readOption('Empty Cells', read(item)[0], ['leave', 'clear']) === 'clear' ? 'cellThatClears' : 'cellThatLeaves');
}

const linkedValues = (records: LinkedValues, item: number): MappedValue[] =>
	records.all(item).map(([field, value]) => ({ field, value, origin: 'chosen' }));

function noteUnknownNames(object: IDataObject, names: string[], values: FieldValue[], accepted: AcceptedFields, unsent: UnsentValues): void {
	// A record that was read contains values that only the service writes: ids, times, counters.
	const isRecord = names.length > 0 && Object.keys(object).some((name) => wordsOf(name) === 'id');
	const isOfRecord = (name: string) => accepted.recordNames.has(name) || name === outcomeField || accepted.recordWords?.has(wordsOf(name));
	for (const name of names) {
		const namesake: Field | undefined = customNamesake(accepted, name);
		if (namesake && !values.some(([field]) => field === namesake)) unsent.onlyRead(namesake);
		else if (!isRecord || !isOfRecord(name)) unsent.unknown(name);
	}
}

/**
 * The object of an item.
 *
 * @throws Error in the user's words where it is not a JSON object
 * @throws NodeOperationError where an expression fails
 */
type ObjectOf = (item: number) => IDataObject;

function inputObjects(n8n: IExecuteFunctions): ObjectOf {
	const items = n8n.getInputData();
	return (item) => items[item]?.json ?? {};
}

/** JSON objects, each evaluated once. */
function jsonObjects(n8n: IExecuteFunctions, value: unknown): ObjectOf {
	const read = evaluateValues(n8n, [{ label: 'JSON', value }]);
	const evaluated: IDataObject[] = [];
	return (item) => (evaluated[item] ??= jsonObject(read(item)[0], isExpression(value)));
}

/** @param isEvaluated whether an expression returned it: a number inserted into its text may already have lost digits */
function jsonObject(value: unknown, isEvaluated: boolean): IDataObject {
	const parsed = typeof value === 'string' ? parseJson(value) : value;
	if (isEvaluated && typeof value === 'string' && parsed !== undefined) checkExact('JSON', JSON.parse(value));
	if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
		return parsed as IDataObject;
	}
	const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
	throw new Error(`JSON: “${text.slice(0, 200)}” is not an object such as { "name": "value" }`);
}
