import { outcomeField } from '../api/record';
import type { Execution } from '../model';
import { oncePerFields, type AcceptedFields, type AcceptedFieldsOf } from './acceptedFields';
import { evaluateValues } from './expressions';
import { linkedRecordValues } from './linkedRecords';
import { isEmptyCell, objectFields, type FieldValue } from './objectFields';
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
	const read = evaluateValues(n8n, known);
	return (item) => {
		const values = read(item);
		return known.flatMap(({ field, value: stored }, i): FieldValue[] => {
			const value = values[i];
			// A model gives empty text for a field it knows nothing about.
			if (isFilledByModel(stored) && (value === '' || value === undefined)) return [];
			if (value !== undefined) return [[field, value]];
			unsent.noValue(field);
			return [];
		});
	};
}

function inObjects(
	mapping: ObjectMapping,
	{ fields, recordNames }: AcceptedFields,
	linked: ReadMapped,
	unsent: UnsentValues,
): ReadMapped {
	const valuesIn = objectFields(fields, recordNames);
	const emptyCells = mapping.mode === 'automatic' ? mapping.emptyCells : undefined;
	const cells = (values: FieldValue[]): FieldValue[] => {
		if (emptyCells === 'leave') return values.filter(([, value]) => !isEmptyCell(value));
		if (emptyCells === undefined) return values;
		return values.map(([field, value]) => [field, isEmptyCell(value) ? null : value]);
	};
	return (item) => {
		const object = mapping.objectOf(item);
		const { values, unknown, noObjects } = valuesIn(object);
		noObjects.forEach(unsent.noObject);
		// A record that was read comes with values only the service writes: ids, times, counters.
		const isRecord = object.id !== undefined;
		const isReadOnly = (name: string) => isRecord && (recordNames.has(name) || name === outcomeField);
		unknown.filter((name) => !isReadOnly(name)).forEach(unsent.unknown);
		const all = [...cells(values), ...linked(item)];
		if (all.length > 0) return all;
		const names = Object.keys(object);
		if (values.length > 0) throw onlyBlanks(values.map(([{ label }]) => label));
		if (names.length > 0) throw nothingToSend(names, fields);
		return all;
	};
}
