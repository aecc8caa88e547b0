import { isExpression, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

import { outcomeField } from '../api/answeredRecord';
import { parseJson } from '../api/http/json';
import { checkExact } from '../api/http/numbers';
import { isPlainObject } from '../api/http/ownMembers';
import { isBlank, withoutBlanks } from '../fields/blank';
import type { Field } from '../fields/field';
import { isBlankFor, isEmptyListText } from '../fields/fieldKinds';
import { readOption } from '../parameters/readers';
import { customNamesake, oncePerFields, type AcceptedFields } from './acceptedFields';
import { wordsOf } from './fieldNames';
import { evaluateValues } from './expressions/evaluateValues';
import { linkedRecordValues } from './linkedRecords';
import { objectFields, type FieldValue } from './objectFields';
import { refersToOthers } from '../api/openapi/linkFields';
import { isFilledByModel, type StoredFields } from './stored';
import { inventedFields, nothingToSend, onlyBlanks, type UnsentValues } from './unsentValues';

/** The values of the items, evaluated and not converted. */
export interface ItemValues {
	/** The names an item has values for; those of an object that cannot be read are left out. */
	names(item: number): string[];
	/** The values of fields that may name other records. They are read before all values of the item. */
	references(item: number, accepted: AcceptedFields): FieldValue[];
	/**
	 * All values; picked records come last.
	 *
	 * @throws Error in the user's words, for an item none of whose values can be sent
	 */
	all(item: number, accepted: AcceptedFields): FieldValue[];
}

/** @param unsent is told which values are left out */
export const itemValues = (n8n: IExecuteFunctions, stored: StoredFields, unsent: UnsentValues): ItemValues =>
	stored.mode === 'each' ? valuesByHand(n8n, stored, unsent) : valuesInObjects(n8n, stored, unsent);

type Stored<Mode> = Extract<StoredFields, { mode: Mode }>;

function valuesByHand(n8n: IExecuteFunctions, { values, linked }: Stored<'each'>, unsent: UnsentValues): ItemValues {
	const allNames = [...values.map(([name]) => name), ...linked.map(({ field }) => field)];
	const mappingOf = oncePerFields(({ fields }) => {
		const byName = new Map(fields.map((field) => [field.name, field]));
		for (const [name] of values) if (!byName.has(name)) unsent.unknown(name);
		const mapped = values.flatMap(([name, value]) => {
			const field = byName.get(name);
			return field ? [{ field, label: field.label, value }] : [];
		});
		const records = linkedRecordValues(n8n, linked, fields, unsent);
		return { mapped, records, evaluate: evaluateValues(n8n, mapped), mayRefer: mapped.some(({ field }) => refersToOthers(field)) };
	});
	// An expression that changes its item would give something else the second time.
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
			const found = mapped.flatMap(({ field, value: expression }, i): FieldValue[] => {
				const value = evaluated[i];
				// A model gives empty text for a field it knows nothing about.
				if (isFilledByModel(expression) && value !== null && isBlankFor(field, value)) return [];
				if (isEmptyListText(field, value)) return [];
				if (value !== undefined) return [[field, value]];
				unsent.noValue(field);
				return [];
			});
			return [...found, ...records.all(item)];
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

function valuesInObjects(n8n: IExecuteFunctions, stored: Stored<'automatic' | 'json'>, unsent: UnsentValues): ItemValues {
	const { linked } = stored;
	const isModels = stored.mode === 'json' && isFilledByModel(stored.json);
	const objectOf = stored.mode === 'json' ? jsonObjects(n8n, stored.json) : inputObjects(n8n);
	const emptyCells = stored.mode === 'json' ? undefined : evaluateValues(n8n, [{ label: 'Empty Cells', value: stored.emptyCells }]);
	const readerOf = oncePerFields(({ fields, recordNames }) => ({
		read: objectFields(fields, recordNames),
		records: linkedRecordValues(n8n, linked, fields, unsent),
		plainNames: new Set(fields.filter((field) => !refersToOthers(field)).map(({ name }) => name)),
	}));

	return {
		names(item) {
			const object = orError(() => objectOf(item));
			// The item fails with this error when its turn comes.
			const own = object instanceof Error ? [] : Object.keys(object);
			return [...own, ...linked.map(({ field }) => field)];
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
			// A model takes a success for the success of all it has sent.
			const invented = isModels ? unknown.filter((name) => !accepted.recordNames.has(name)) : [];
			if (invented.length > 0 && accepted.fields.length > 0) throw inventedFields(invented, accepted.fields);
			noObjects.forEach(unsent.noObject);
			tellUnknown(object, unknown, values, accepted, unsent);
			const cells = emptyCells && readOption('Empty Cells', emptyCells(item)[0], ['leave', 'clear']);
			const all = [...values.flatMap((value) => sentCell(value, cells)), ...records.all(item)];
			if (all.length > 0) return all;
			const names = Object.keys(object);
			if (values.length > 0) throw onlyBlanks(values.map(([{ label }]) => label));
			if (names.length > 0) throw nothingToSend(names, accepted.fields);
			return all;
		},
	};
}

/** @param emptyCells what an empty one does; undefined for JSON, where a blank clears */
function sentCell([field, value]: FieldValue, emptyCells: 'leave' | 'clear' | undefined): FieldValue[] {
	if (emptyCells === undefined) return isEmptyListText(field, value) ? [] : [[field, value]];
	if (emptyCells === 'clear' && field.name === 'custom_fields' && isBlank(value)) throw new Error(clearsAllCustom);
	if (emptyCells === 'clear') return [[field, isBlankFor(field, value) ? null : value]];
	// Alone in a list, an object of blanks is nothing.
	const [left] = isPlainObject(value) ? (withoutBlanks([value]) as unknown[]) : [value];
	return left === undefined || isBlankFor(field, value) ? [] : [[field, left]];
}

const clearsAllCustom = 'Custom Fields: the cell is empty, which would clear every custom field of the record, so nothing was written. Remove the column, or have one for each custom field.';

function tellUnknown(object: IDataObject, names: string[], values: FieldValue[], accepted: AcceptedFields, unsent: UnsentValues): void {
	// A record that was read comes with values only the service writes: ids, times, counters.
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

/** @param isEvaluated whether an expression gave it: a number put into its text may have lost digits before */
function jsonObject(given: unknown, isEvaluated: boolean): IDataObject {
	const parsed = typeof given === 'string' ? parseJson(given) : given;
	if (isEvaluated && typeof given === 'string' && parsed !== undefined) checkExact('JSON', JSON.parse(given));
	if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
		return parsed as IDataObject;
	}
	const shown = typeof given === 'string' ? given : (JSON.stringify(given) ?? '');
	throw new Error(`JSON: “${shown.slice(0, 200)}” is not an object such as { "name": "value" }`);
}
