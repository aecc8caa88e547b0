import { isExpression, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

import { outcomeField } from '../api/answeredRecord';
import { parsedValue } from '../base/json';
import { checkExact } from '../base/numbers';
import { isLink } from '../api/openapi/linkFields';
import { decideValue, type EvaluatedValue, type ValueOrigin, type WhenCleared } from '../fields/decideValue';
import type { Field, InputValue } from '../fields/field';
import { readOption } from '../values/readers';
import { customNamesake, type AcceptedFields } from './acceptedFields';
import { Evaluation } from './expressions/evaluation';
import { isFilledByModel } from './expressions/fromAI';
import { wordsOf } from './fieldNames';
import { ObjectFieldReader } from './objectFields';
import { OncePerItem } from './oncePerItem';
import { linkedRecords, LinkedRecordValues } from './linkedRecords';
import type { StoredFields } from './storedFields';
import { inventedFields, nothingToSend, type UnsentValues } from './unsentValues';

/** Reads the values of items that accept the same fields: evaluates the stored fields. */
interface ItemReader {
	/** Whether `read` can return names of other records. */
	mayNameRecords(item: number): boolean;
	/**
	 * The values of an item; linked records come last.
	 *
	 * @throws Error in the user's words if none of the item's values belongs to a field
	 */
	read(item: number): EvaluatedValue[];
}

/** The readers of items, before it is known which fields the items accept. */
interface ItemReaders {
	/** The names for which an item has values; without the names of an unreadable object. */
	names(item: number): string[];
	readerFor(accepted: AcceptedFields): ItemReader;
}

/**
 * @param unsent collects the values that are left out
 * @param whenCleared what clearing a field does: two values for one field conflict if each would change it
 */
export function itemReaders(
	n8n: IExecuteFunctions,
	stored: StoredFields,
	unsent: UnsentValues,
	whenCleared: WhenCleared,
): ItemReaders {
	const linked = linkedRecords(n8n, stored.linked);
	const linkNames = linked.map(({ linkName }) => linkName);
	const linkedValues = ({ fields }: AcceptedFields) => new LinkedRecordValues(n8n, linked, fields, unsent);
	if (stored.mode === 'each') {
		const names = [...stored.rows.map(([name]) => name), ...linkNames];
		return {
			names: () => names,
			readerFor: (accepted) => new FormReader(n8n, formRowsOf(stored.rows, accepted.fields, unsent), linkedValues(accepted)),
		};
	}
	const objects = stored.mode === 'json' ? jsonObjects(n8n, stored.json) : inputObjects(n8n);
	const originOf = originsOf(n8n, stored);
	// A model would take a success to cover everything it has sent.
	const refusesUnknown = stored.mode === 'json' && isFilledByModel(stored.json);
	return {
		names: (item) => [...namesIn(objects, item), ...linkNames],
		readerFor: (accepted) =>
			new ObjectsReader({ objects, originOf, refusesUnknown, unsent, whenCleared, accepted, linkedValues: linkedValues(accepted) }),
	};
}

function namesIn(objects: OncePerItem<IDataObject>, item: number): string[] {
	try {
		return Object.keys(objects.readEarly(item));
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

	constructor(n8n: IExecuteFunctions, rows: FormRow[], linkedValues: LinkedRecordValues) {
		this.rows = rows;
		this.linkedValues = linkedValues;
		this.evaluation = new Evaluation(n8n, rows);
		this.hasNames = linkedValues.hasNames || rows.some(({ field }) => isLink(field));
	}

	mayNameRecords(): boolean {
		return this.hasNames;
	}

	read(item: number): EvaluatedValue[] {
		const results = this.evaluation.valuesOf(item);
		const values = this.rows.map(({ field, origin }, i): EvaluatedValue => ({ field, value: results[i], origin }));
		return [...values, ...this.linkedValues.valuesOf(item)];
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

function formRowsOf(rows: Stored<'each'>['rows'], fields: Field[], unsent: UnsentValues): FormRow[] {
	const byName = new Map(fields.map((field) => [field.name, field]));
	for (const [name] of rows) if (!byName.has(name)) unsent.unknown(name);
	return rows.flatMap(([name, value]): FormRow[] => {
		const field = byName.get(name);
		return field ? [{ field, label: field.label, value, origin: isFilledByModel(value) ? 'model' : 'chosen' }] : [];
	});
}

/** The objects of the items, and how to read them. */
interface ObjectSource {
	/** The input items, or what the parameter's JSON is for each of them. */
	objects: OncePerItem<IDataObject>;
	originOf: (item: number) => ValueOrigin;
	/** Whether a name that belongs to no field fails the item; otherwise, a notice names it. */
	refusesUnknown: boolean;
	unsent: UnsentValues;
	whenCleared: WhenCleared;
	accepted: AcceptedFields;
	linkedValues: LinkedRecordValues;
}

/** The members of an object for each item. */
class ObjectsReader implements ItemReader {
	private readonly source: ObjectSource;
	private readonly fieldReader: ObjectFieldReader;
	private readonly plainNames: ReadonlySet<string>;

	constructor(source: ObjectSource) {
		const { fields, recordFieldNames } = source.accepted;
		this.source = source;
		this.fieldReader = new ObjectFieldReader(fields, recordFieldNames);
		this.plainNames = new Set(fields.filter((field) => !isLink(field)).map(({ name }) => name));
	}

	mayNameRecords(item: number): boolean {
		const { objects, linkedValues } = this.source;
		return linkedValues.hasNames || !Object.keys(objects.readEarly(item)).every((name) => this.plainNames.has(name));
	}

	read(item: number): EvaluatedValue[] {
		const { objects, originOf, refusesUnknown, unsent, whenCleared, accepted, linkedValues } = this.source;
		const object = objects.readInTurn(item);
		const origin = originOf(item);
		const isSkipped = (field: Field, value: unknown) => decideValue({ field, value, origin }, whenCleared).action === 'skip';
		const { values, unknown, notObjects } = this.fieldReader.read(object, isSkipped);
		const invented = refusesUnknown ? unknown.filter((name) => !accepted.recordFieldNames.has(name)) : [];
		if (invented.length > 0 && accepted.fields.length > 0) throw inventedFields(invented, accepted.fields);
		for (const name of notObjects) unsent.notObject(name);
		noteUnknownNames(object, unknown, values, accepted, unsent);
		const all = [...values.map((fieldValue): EvaluatedValue => ({ ...fieldValue, origin })), ...linkedValues.valuesOf(item)];
		const names = Object.keys(object);
		if (all.length === 0 && names.length > 0) throw nothingToSend(names, accepted.fields);
		return all;
	}
}

/** What the blanks of an item do: the option Empty Cells. */
function originsOf(n8n: IExecuteFunctions, stored: Stored<'automatic' | 'json'>): (item: number) => ValueOrigin {
	if (stored.mode === 'json') return () => 'chosen';
	const evaluation = new Evaluation(n8n, [{ label: 'Empty Cells', value: stored.emptyCells }]);
	return (item) => {
		const emptyCells = readOption('Empty Cells', evaluation.valuesOf(item)[0], ['leave', 'clear']);
		return emptyCells === 'clear' ? 'cellThatClears' : 'cellThatLeaves';
	};
}

function noteUnknownNames(
	object: IDataObject,
	names: string[],
	values: InputValue[],
	accepted: AcceptedFields,
	unsent: UnsentValues,
): void {
	// A record that was read contains values that only the service sets: ids, times, counters.
	const isRecord = names.length > 0 && Object.keys(object).some((name) => wordsOf(name) === 'id');
	const isFromRecord = (name: string) =>
		accepted.recordFieldNames.has(name) || name === outcomeField || accepted.recordFieldWords?.has(wordsOf(name));
	for (const name of names) {
		const namesake: Field | undefined = customNamesake(accepted, name);
		if (namesake && !values.some(({ field }) => field === namesake)) unsent.readOnly(namesake);
		else if (!isRecord || !isFromRecord(name)) unsent.unknown(name);
	}
}

function inputObjects(n8n: IExecuteFunctions): OncePerItem<IDataObject> {
	const items = n8n.getInputData();
	return new OncePerItem((item) => items[item]?.json ?? {});
}

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
