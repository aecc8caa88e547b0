import { outcomeField } from '../api/answeredRecord';
import type { Execution } from '../model';
import { customNamesake, oncePerFields, type AcceptedFields, type AcceptedFieldsOf } from './acceptedFields';
import { isPlainObject } from '../api/http/ownMembers';
import { withoutBlanks } from '../fields/blank';
import { isBlankFor, isEmptyListText } from '../fields/fieldKinds';
import { evaluateValues, mayChangeItem } from './expressions/evaluateValues';
import { linkedRecordValues } from './linkedRecords';
import { objectFields, type FieldValue } from './objectFields';
import { isFilledByModel, type Mapping, type ObjectMapping } from './stored';
import { nothingToSend, onlyBlanks, type UnsentValues } from './unsentValues';

type ReadMapped = (item: number) => FieldValue[];

/**
 * The mapped values of an item before conversion; picked records come last.
 *
 * @throws Error from the returned function, in the user's words, for an item none of whose values can be sent
 */
export function mappedValues(
	execution: Execution,
	mapping: Mapping,
	acceptedFor: AcceptedFieldsOf,
	unsent: UnsentValues,
): ReadMapped {
	const reader = oncePerFields((accepted) => readerFor(execution, mapping, accepted, unsent));
	return (item) => reader(acceptedFor(item))(item);
}

function readerFor({ n8n }: Execution, mapping: Mapping, accepted: AcceptedFields, unsent: UnsentValues): ReadMapped {
	const linked = linkedRecordValues(n8n, mapping.linked, accepted.fields, unsent);
	if (mapping.mode !== 'each') return inObjects(mapping, accepted, linked, unsent);
	const mapped = mappedByHand(n8n, mapping.mapped, accepted, unsent);
	return (item) => [...mapped(item), ...linked(item)];
}

function mappedByHand(
	n8n: Execution['n8n'],
	mapped: Array<[string, unknown]>,
	{ fields }: AcceptedFields,
	unsent: UnsentValues,
): ReadMapped {
	const byName = new Map(fields.map((field) => [field.name, field]));
	for (const [name] of mapped) if (!byName.has(name)) unsent.unknown(name);
	const known = mapped.flatMap(([name, value]) => {
		const field = byName.get(name);
		return field ? [{ field, label: field.label, value }] : [];
	});
	const evaluate = evaluateValues(n8n, known);
	const read = mayChangeItem(known) ? oncePerItem(mapped, fields, evaluate) : evaluate;
	return (item) => {
		const values = read(item);
		return known.flatMap(({ field, value: stored }, i): FieldValue[] => {
			const value = values[i];
			// A model gives empty text for a field it knows nothing about.
			if (isFilledByModel(stored) && value !== null && isBlankFor(field, value)) return [];
			if (isEmptyListText(field, value)) return [];
			if (value !== undefined) return [[field, value]];
			unsent.noValue(field);
			return [];
		});
	};
}

type Evaluate = (item: number) => unknown[];

const evaluatedOnce = new WeakMap<object, WeakMap<object, Evaluate>>();

/** Evaluates each item once, however many readers a mapping has: expressions that write give something else the second time. */
function oncePerItem(mapped: object, fields: object, evaluate: Evaluate): Evaluate {
	const known = evaluatedOnce.get(mapped) ?? new WeakMap<object, Evaluate>();
	evaluatedOnce.set(mapped, known);
	const values = new Map<number, unknown[] | Error>();
	const once = known.get(fields) ?? ((item: number) => {
		const evaluated = values.get(item) ?? valuesOrError(() => evaluate(item));
		values.set(item, evaluated);
		if (evaluated instanceof Error) throw evaluated;
		return evaluated;
	});
	known.set(fields, once);
	return once;
}

function valuesOrError(evaluate: () => unknown[]): unknown[] | Error {
	try {
		return evaluate();
	} catch (error) {
		return error as Error;
	}
}

function inObjects(
	mapping: ObjectMapping,
	accepted: AcceptedFields,
	linked: ReadMapped,
	unsent: UnsentValues,
): ReadMapped {
	const { fields, recordNames } = accepted;
	const valuesIn = objectFields(fields, recordNames);
	const cells = (values: FieldValue[], item: number): FieldValue[] => {
		const emptyCells = mapping.mode === 'automatic' ? mapping.emptyCellsOf(item) : undefined;
		if (emptyCells === 'leave') {
			return values.flatMap(([field, value]): FieldValue[] => {
				// Alone in a list, an object of blanks is nothing.
				const [left] = isPlainObject(value) ? (withoutBlanks([value]) as unknown[]) : [value];
				return left === undefined || isBlankFor(field, value) ? [] : [[field, left]];
			});
		}
		if (emptyCells === undefined) return values.filter(([field, value]) => !isEmptyListText(field, value));
		return values.map(([field, value]) => [field, isBlankFor(field, value) ? null : value]);
	};
	return (item) => {
		const object = mapping.objectOf(item);
		const { values, unknown, noObjects } = valuesIn(object);
		noObjects.forEach(unsent.noObject);
		// A record that was read comes with values only the service writes: ids, times, counters.
		const isRecord = object.id !== undefined;
		const isReadOnly = (name: string) => isRecord && (recordNames.has(name) || name === outcomeField);
		for (const name of unknown) {
			const namesake = customNamesake(accepted, name);
			if (namesake && !values.some(([field]) => field === namesake)) unsent.onlyRead(namesake);
			else if (!isReadOnly(name)) unsent.unknown(name);
		}
		const all = [...cells(values, item), ...linked(item)];
		if (all.length > 0) return all;
		const names = Object.keys(object);
		if (values.length > 0) throw onlyBlanks(values.map(([{ label }]) => label));
		if (names.length > 0) throw nothingToSend(names, fields);
		return all;
	};
}
