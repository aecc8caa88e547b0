import { isExpression, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

import { outcomeField } from '../api/record';
import type { Connection } from '../api/connection';
import { parsedValue } from '../base/json';
import { getOrCreate } from '../base/maps';
import { checkExact } from '../base/numbers';
import { isLink } from '../api/openapi/linkFields';
import { isToolCall } from '../api/toolNode';
import { decideValue, type ValueOrigin, type WhenCleared } from '../fields/decideValue';
import type { Field, InputValue } from '../fields/field';
import type { Execution } from '../model';
import { listed } from '../base/lists';
import { readOption } from '../values/readers';
import { customNamesake, type AcceptedFields } from './acceptedFields';
import { usualNamesIn, type MatchedFields } from './columnMatch';
import { Evaluation } from './expressions/evaluation';
import { isFilledByModel } from './expressions/template';
import { wordsOf } from './fieldNames';
import { ObjectFieldReader } from './objectFields';
import { linkedReader, linkedRecords, type ItemReader } from './linkedRecords';
import type { StoredFields } from './storedFields';
import { inventedFields, nothingToSend, type UnsentValue } from './unsentValues';

/** The readers of items, before it is known which fields the items accept. */
interface ItemReaders {
	/** The names for which an item has values; without the names of an unreadable object. */
	names(item: number): string[];
	readerFor(accepted: AcceptedFields): ItemReader;
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
	otherNames: string[] = [],
): ItemReaders {
	const { n8n } = execution;
	const linked = linkedRecords(n8n, stored.linked);
	const linkNames = linked.map(({ linkName }) => linkName);
	const { names, readerFor } = stored.mode === 'each' ? formReaders(n8n, stored) : objectReaders(execution, stored, whenCleared, otherNames);
	return {
		names: (item) => [...names(item), ...linkNames],
		readerFor(accepted) {
			const picked = linkedReader(n8n, linked, accepted.fields);
			const mapped = readerFor(accepted);
			return {
				neverSent: [...mapped.neverSent, ...picked.neverSent],
				mayNameRecords: (item) => picked.mayNameRecords(item) || mapped.mayNameRecords(item),
				read(item) {
					const { values, unsent, refusal } = mapped.read(item);
					const records = picked.read(item);
					const all = { values: [...values, ...records.values], unsent: [...unsent, ...records.unsent] };
					return refusal && records.values.length === 0 ? { ...all, refusal } : all;
				},
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
			const hasLinks = rows.some(({ field }) => isLink(field));
			return {
				neverSent: names.flatMap((name): UnsentValue[] => (byName.has(name) ? [] : [{ reason: 'unknown', name }])),
				mayNameRecords: () => hasLinks,
				read(item) {
					const results = evaluation.valuesOf(item);
					return { values: rows.map(({ field, origin }, i) => ({ field, value: results[i], origin })), unsent: [] };
				},
			};
		},
	};
}

/** Reads the members of an object for each item: of the input item itself, or of what the parameter's JSON is for it. */
function objectReaders(
	{ n8n, api, resource, rows }: Pick<Execution, 'n8n' | 'api' | 'resource' | 'rows'>,
	stored: Stored<'automatic' | 'json'>,
	whenCleared: WhenCleared,
	otherNames: string[],
): ItemReaders {
	const items = rows ?? n8n.getInputData();
	const objects = new OncePerItem(stored.mode === 'json' ? jsonObjects(n8n, stored.json) : (item) => items[item]?.json ?? {});
	const originOf = originsOf(n8n, stored);
	// A model would take a success to cover everything it has sent.
	const refusesUnknown = stored.mode === 'json' && isFilledByModel(stored.json);
	// The columns of a file have the names of their fields already, and the description of another service has other names.
	const mayHaveUsualNames = stored.mode !== 'json' && !rows && api.isSelfDescribed();
	return {
		names(item) {
			try {
				return Object.keys(objects.peek(item));
			} catch {
				// The item fails with this error in its turn.
				return [];
			}
		},
		readerFor(accepted) {
			const { fields, recordFieldNames } = accepted;
			const usualNames = mayHaveUsualNames ? usualNamesOf(n8n, api, { collection: resource.path.slice(1), ...accepted }, otherNames) : new Map<string, Field>();
			const fieldReader = new ObjectFieldReader(fields, recordFieldNames);
			const plainNames = new Set(fields.filter((field) => !isLink(field)).map(({ name }) => name));
			return {
				neverSent: [],
				mayNameRecords: (item) => !Object.keys(objects.peek(item)).every((name) => plainNames.has(name)),
				read(item) {
					const object = renamedToFields(objects.take(item), usualNames);
					const origin = originOf(item);
					const isSkipped = (field: Field, value: unknown) => decideValue({ field, value, origin }, whenCleared).action === 'skip';
					const { values, unknown, notObjects } = fieldReader.read(object, isSkipped);
					const invented = refusesUnknown ? unknown.filter((name) => !recordFieldNames.has(name)) : [];
					if (invented.length > 0 && fields.length > 0) throw inventedFields(invented, fields);
					const names = Object.keys(object);
					return {
						values: values.map((fieldValue) => ({ ...fieldValue, origin })),
						unsent: [...notObjects.map((name): UnsentValue => ({ reason: 'notObject', name })), ...unsentMembersOf(object, unknown, values, accepted)],
						...(values.length === 0 && names.length > 0 && { refusal: nothingToSend(names, fields) }),
					};
				},
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
function unsentMembersOf(object: IDataObject, names: string[], values: InputValue[], accepted: AcceptedFields): UnsentValue[] {
	// A record that was read contains values that only the service sets: ids, times, counters.
	const isRecord = names.length > 0 && Object.keys(object).some((name) => wordsOf(name) === 'id');
	const isFromRecord = (name: string) =>
		accepted.recordFieldNames.has(name) || name === outcomeField || accepted.recordFieldWords?.has(wordsOf(name));
	return names.flatMap((name): UnsentValue[] => {
		const namesake = customNamesake(accepted, name);
		if (namesake && !values.some(({ field }) => field === namesake)) return [{ reason: 'readOnly', name: namesake.name }];
		return isRecord && isFromRecord(name) ? [] : [{ reason: 'unknown', name }];
	});
}

const jsonLabel = 'Fields (JSON)';

function jsonObjects(n8n: IExecuteFunctions, value: unknown): (item: number) => IDataObject {
	const evaluation = new Evaluation(n8n, [{ label: jsonLabel, value }]);
	return (item) => jsonObject(evaluation.valuesOf(item)[0], isExpression(value));
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

/**
 * Reads an item at most once until its turn, although a look-up may need it earlier: an expression that changes its item
 * would return something else the second time.
 */
export class OncePerItem<Value> {
	private readonly read: (item: number) => Value;
	/** Results that were read early, until the item's turn. */
	private readonly early = new Map<number, () => Value>();

	constructor(read: (item: number) => Value) {
		this.read = read;
	}

	/** Reads an item, and keeps the result until it is taken. @throws the error of reading, now and when it is taken */
	peek(item: number): Value {
		return getOrCreate(this.early, item, () => resultOf(() => this.read(item)))();
	}

	/** Returns the result for an item, and forgets it. @throws the error of reading */
	take(item: number): Value {
		const early = this.early.get(item);
		this.early.delete(item);
		return early ? early() : this.read(item);
	}
}

/** Reads now. @returns what returns the result, or throws the error */
function resultOf<Value>(read: () => Value): () => Value {
	try {
		const value = read();
		return () => value;
	} catch (error) {
		return () => {
			throw error as Error;
		};
	}
}
