import { isExpression, type IDataObject, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';

import { outcomeField } from '../api/record';
import type { Connection } from '../api/connection';
import { parsedValue } from '../base/json';
import { checkExact } from '../base/numbers';
import { isLink } from '../api/openapi/linkFields';
import { isToolCall } from '../api/toolNode';
import { decideValue, type EvaluatedValue, type ValueOrigin, type WhenCleared } from '../fields/decideValue';
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
import { linkedRecords, LinkedRecordValues, type EvaluatedItem } from './linkedRecords';
import type { StoredFields } from './storedFields';
import { inventedFields, nothingToSend, type UnsentValue } from './unsentValues';

/** An item, once it is read. */
interface ReadItem extends EvaluatedItem {
	/** Why none of its values can be sent. */
	refusal?: Error;
}

/** Reads the values of items that accept the same fields: evaluates the stored fields. */
interface ItemReader {
	/** The values that no item can send, because their names belong to no field. */
	neverSent: UnsentValue[];
	/** Whether `read` can return names of other records. */
	mayNameRecords(item: number): boolean;
	/**
	 * Reads an item; linked records come last.
	 *
	 * @throws Error in the user's words if an expression fails, or an item cannot be read
	 */
	read(item: number): ReadItem;
}

/** The readers of items, before it is known which fields the items accept. */
interface ItemReaders {
	/** The names for which an item has values; without the names of an unreadable object. */
	names(item: number): string[];
	readerFor(accepted: AcceptedFields): ItemReader;
}

/** @param whenCleared what clearing a field does: two values for one field conflict if each would change it */
export function itemReaders(
	{ n8n, api, resource, rows }: Pick<Execution, 'n8n' | 'api' | 'resource' | 'rows'>,
	stored: StoredFields,
	whenCleared: WhenCleared,
	otherNames: string[] = [],
): ItemReaders {
	const linked = linkedRecords(n8n, stored.linked);
	const linkNames = linked.map(({ linkName }) => linkName);
	const linkedValues = ({ fields }: AcceptedFields) => new LinkedRecordValues(n8n, linked, fields);
	if (stored.mode === 'each') {
		const names = [...stored.rows.map(([name]) => name), ...linkNames];
		return {
			names: () => names,
			readerFor: (accepted) => new FormReader(n8n, stored, accepted, linkedValues(accepted)),
		};
	}
	const objects = stored.mode === 'json' ? jsonObjects(n8n, stored.json) : inputObjects(rows ?? n8n.getInputData());
	const originOf = originsOf(n8n, stored);
	// A model would take a success to cover everything it has sent.
	const refusesUnknown = stored.mode === 'json' && isFilledByModel(stored.json);
	// The columns of a file have the names of their fields already, and the description of another service has other names.
	const usualNames = (accepted: AcceptedFields) =>
		stored.mode === 'json' || rows || !api.isSelfDescribed() ? new Map<string, Field>() : usualNamesOf(n8n, api, { collection: resource.path.slice(1), ...accepted }, otherNames);
	return {
		names: (item) => [...namesIn(objects, item), ...linkNames],
		readerFor: (accepted) =>
			new ObjectsReader({ objects, originOf, refusesUnknown, whenCleared, accepted, linkedValues: linkedValues(accepted), usualNames: usualNames(accepted) }),
	};
}

/** The fields that the names of all items mean as usual names in other systems, which the user is told. */
function usualNamesOf(n8n: IExecuteFunctions, api: Connection, target: MatchedFields, otherNames: string[]): Map<string, Field | undefined> {
	const usual = usualNamesIn(n8n.getInputData().map(({ json }) => json), target, otherNames);
	const renamed = [...usual].flatMap(([name, field]) => (field ? [`“${name}” into “${field.label}”`] : []));
	if (renamed.length > 0) api.notices.add(`By usual names in other systems: ${listed(renamed, 10)}. To change that, map each field.`);
	return usual;
}

function namesIn(objects: OncePerItem<IDataObject>, item: number): string[] {
	try {
		return Object.keys(objects.peek(item));
	} catch {
		// The item fails with this error in its turn.
		return [];
	}
}

/** The rows of a form. */
class FormReader implements ItemReader {
	private readonly rows: FormRow[];
	private readonly linkedValues: LinkedRecordValues;
	private readonly evaluation: Evaluation;
	private readonly hasNames: boolean;
	readonly neverSent: UnsentValue[];

	constructor(n8n: IExecuteFunctions, { rows }: Stored<'each'>, { fields }: AcceptedFields, linkedValues: LinkedRecordValues) {
		const byName = new Map(fields.map((field) => [field.name, field]));
		this.rows = rows.flatMap(([name, value]) => formRow(byName.get(name), value));
		const unknownRows = rows.flatMap(([name]): UnsentValue[] => (byName.has(name) ? [] : [{ reason: 'unknown', name }]));
		this.neverSent = [...unknownRows, ...linkedValues.unknownLinks];
		this.linkedValues = linkedValues;
		this.evaluation = new Evaluation(n8n, this.rows);
		this.hasNames = linkedValues.hasNames || this.rows.some(({ field }) => isLink(field));
	}

	mayNameRecords(): boolean {
		return this.hasNames;
	}

	read(item: number): EvaluatedItem {
		const results = this.evaluation.valuesOf(item);
		const values = this.rows.map(({ field, origin }, i): EvaluatedValue => ({ field, value: results[i], origin }));
		const linked = this.linkedValues.read(item);
		return { values: [...values, ...linked.values], unsent: linked.unsent };
	}
}

type Stored<Mode> = Extract<StoredFields, { mode: Mode }>;

interface FormRow {
	field: Field;
	label: string;
	/** As stored in the workflow. */
	value: unknown;
	origin: ValueOrigin;
}

const formRow = (field: Field | undefined, value: unknown): FormRow[] =>
	field ? [{ field, label: field.label, value, origin: isFilledByModel(value) ? 'model' : 'chosen' }] : [];

/** The objects of the items, and how to read them. */
interface ObjectSource {
	/** The input items, or what the parameter's JSON is for each of them. */
	objects: OncePerItem<IDataObject>;
	originOf: (item: number) => ValueOrigin;
	/** Whether a name that belongs to no field fails the item; otherwise, a notice names it. */
	refusesUnknown: boolean;
	whenCleared: WhenCleared;
	accepted: AcceptedFields;
	linkedValues: LinkedRecordValues;
	/** The fields of names that are no names of fields; names without one are left out. */
	usualNames: ReadonlyMap<string, Field | undefined>;
}

/** The members of an object for each item. */
class ObjectsReader implements ItemReader {
	readonly neverSent: UnsentValue[];
	private readonly source: ObjectSource;
	private readonly fieldReader: ObjectFieldReader;
	private readonly plainNames: ReadonlySet<string>;

	constructor(source: ObjectSource) {
		const { fields, recordFieldNames } = source.accepted;
		this.source = source;
		this.neverSent = source.linkedValues.unknownLinks;
		this.fieldReader = new ObjectFieldReader(fields, recordFieldNames);
		this.plainNames = new Set(fields.filter((field) => !isLink(field)).map(({ name }) => name));
	}

	mayNameRecords(item: number): boolean {
		const { objects, linkedValues } = this.source;
		return linkedValues.hasNames || !Object.keys(objects.peek(item)).every((name) => this.plainNames.has(name));
	}

	private withFieldNames(object: IDataObject): IDataObject {
		const { usualNames } = this.source;
		if (usualNames.size === 0) return object;
		const isKept = ([name]: [string, unknown]) => !usualNames.has(name) || usualNames.get(name) !== undefined;
		return Object.fromEntries(Object.entries(object).filter(isKept).map(([name, value]) => [usualNames.get(name)?.name ?? name, value]));
	}

	read(item: number): ReadItem {
		const { objects, originOf, refusesUnknown, whenCleared, accepted, linkedValues } = this.source;
		const object = this.withFieldNames(objects.take(item));
		const origin = originOf(item);
		const isSkipped = (field: Field, value: unknown) => decideValue({ field, value, origin }, whenCleared).action === 'skip';
		const { values, unknown, notObjects } = this.fieldReader.read(object, isSkipped);
		const invented = refusesUnknown ? unknown.filter((name) => !accepted.recordFieldNames.has(name)) : [];
		if (invented.length > 0 && accepted.fields.length > 0) throw inventedFields(invented, accepted.fields);
		const ofObject = values.map((fieldValue): EvaluatedValue => ({ ...fieldValue, origin }));
		const linked = linkedValues.read(item);
		const notSent = notObjects.map((name): UnsentValue => ({ reason: 'notObject', name }));
		const all = [...ofObject, ...linked.values];
		const names = Object.keys(object);
		return {
			values: all,
			unsent: [...notSent, ...unsentMembersOf(object, unknown, values, accepted), ...linked.unsent],
			...(all.length === 0 && names.length > 0 && { refusal: nothingToSend(names, accepted.fields) }),
		};
	}
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

const inputObjects = (items: INodeExecutionData[]): OncePerItem<IDataObject> => new OncePerItem((item) => items[item]?.json ?? {});

const jsonLabel = 'Fields (JSON)';

function jsonObjects(n8n: IExecuteFunctions, value: unknown): OncePerItem<IDataObject> {
	const evaluation = new Evaluation(n8n, [{ label: jsonLabel, value }]);
	return new OncePerItem((item) => jsonObject(evaluation.valuesOf(item)[0], isExpression(value)));
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
	private readonly early = new Map<number, { value: Value } | { error: unknown }>();

	constructor(read: (item: number) => Value) {
		this.read = read;
	}

	/** Reads an item, and keeps the result until it is taken. @throws the error of reading, now and when it is taken */
	peek(item: number): Value {
		const result = this.early.get(item) ?? this.attempt(item);
		this.early.set(item, result);
		if ('error' in result) throw result.error;
		return result.value;
	}

	/** Returns the result for an item, and forgets it. @throws the error of reading */
	take(item: number): Value {
		const result = this.early.get(item);
		this.early.delete(item);
		if (!result) return this.read(item);
		if ('error' in result) throw result.error;
		return result.value;
	}

	private attempt(item: number): { value: Value } | { error: unknown } {
		try {
			return { value: this.read(item) };
		} catch (error) {
			return { error };
		}
	}
}
