import { isExpression, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

import { outcomeField } from '../api/answeredRecord';
import { parsedValue } from '../base/json';
import { checkExact } from '../base/numbers';
import { refersToOthers } from '../api/openapi/linkFields';
import { decideValue, type EvaluatedValue, type ValueOrigin, type WhenCleared } from '../fields/decideValue';
import type { Field, InputValue } from '../fields/field';
import { readOption } from '../values/readers';
import { customNamesake, OncePerFields, type AcceptedFields } from './acceptedFields';
import { Evaluation } from './expressions/evaluation';
import { isFilledByModel } from './expressions/fromAI';
import { wordsOf } from './fieldNames';
import { ObjectReader } from './objectFields';
import { OncePerItem } from './oncePerItem';
import { linkedRecords, LinkedRecordValues, type LinkedRecord } from './linkedRecords';
import type { StoredFields } from './storedFields';
import { inventedFields, nothingToSend, type UnsentValues } from './unsentValues';

/** Evaluates the stored fields for each item: each expression once. */
interface EvaluatedFields {
	/** The names for which an item has values; without the names of an unreadable object. */
	names(item: number): string[];
	/**
	 * The values of fields that may name other records, read before the item's turn.
	 *
	 * @throws the error that `values` throws, too
	 */
	references(item: number, accepted: AcceptedFields): InputValue[];
	/**
	 * All values; linked records come last.
	 *
	 * @throws Error in the user's words if none of the item's values belongs to a field
	 */
	values(item: number, accepted: AcceptedFields): EvaluatedValue[];
}

/**
 * @param unsent collects the values that are left out
 * @param whenCleared what clearing a field does: two values for one field conflict if each would change it
 */
export function evaluatedFields(
	n8n: IExecuteFunctions,
	stored: StoredFields,
	unsent: UnsentValues,
	whenCleared: WhenCleared,
): EvaluatedFields {
	const linked = linkedRecords(n8n, stored.linked);
	if (stored.mode === 'each') return new FormValues(n8n, stored, linked, unsent);
	return new ObjectValues(n8n, stored, linked, unsent, whenCleared);
}

type Stored<Mode> = Extract<StoredFields, { mode: Mode }>;

/** The rows of a form. */
class FormValues implements EvaluatedFields {
	private readonly allNames: string[];
	private readonly form: OncePerFields<PreparedForm>;

	constructor(n8n: IExecuteFunctions, { rows }: Stored<'each'>, linked: LinkedRecord[], unsent: UnsentValues) {
		this.allNames = [...rows.map(([name]) => name), ...linked.map(({ linkName }) => linkName)];
		this.form = new OncePerFields(({ fields }) => {
			const formRows = formRowsOf(rows, fields, unsent);
			const evaluation = new Evaluation(n8n, formRows);
			return {
				rows: formRows,
				linkedValues: new LinkedRecordValues(n8n, linked, fields, unsent),
				evaluated: new OncePerItem((item) => evaluation.valuesOf(item)),
				mayRefer: formRows.some(({ field }) => refersToOthers(field)),
			};
		});
	}

	names(): string[] {
		return this.allNames;
	}

	references(item: number, accepted: AcceptedFields): InputValue[] {
		const { rows, linkedValues, evaluated, mayRefer } = this.form.for(accepted);
		const ofLinked = linkedValues.references(item);
		if (!mayRefer) return ofLinked;
		const evaluatedRows = evaluated.readEarly(item);
		const ofForm = rows.flatMap(({ field }, i): InputValue[] => (refersToOthers(field) ? [{ field, value: evaluatedRows[i] }] : []));
		return [...ofForm, ...ofLinked];
	}

	values(item: number, accepted: AcceptedFields): EvaluatedValue[] {
		const { rows, linkedValues, evaluated } = this.form.for(accepted);
		const evaluatedRows = evaluated.readInTurn(item);
		const ofForm = rows.map(({ field, origin }, i): EvaluatedValue => ({ field, value: evaluatedRows[i], origin }));
		return [...ofForm, ...linkedValues.all(item)];
	}
}

/** A form with the accepted fields. */
interface PreparedForm {
	rows: FormRow[];
	linkedValues: LinkedRecordValues;
	evaluated: OncePerItem<unknown[]>;
	mayRefer: boolean;
}

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

/** The members of an object: of the input item, or of JSON. */
class ObjectValues implements EvaluatedFields {
	private readonly stored: Stored<'automatic' | 'json'>;
	private readonly linked: LinkedRecord[];
	private readonly unsent: UnsentValues;
	private readonly objects: OncePerItem<IDataObject>;
	private readonly origins: OncePerItem<ValueOrigin>;
	private readonly whenCleared: WhenCleared;
	private readonly reading: OncePerFields<{ reader: ObjectReader; linkedValues: LinkedRecordValues; plainNames: ReadonlySet<string> }>;

	constructor(
		n8n: IExecuteFunctions,
		stored: Stored<'automatic' | 'json'>,
		linked: LinkedRecord[],
		unsent: UnsentValues,
		whenCleared: WhenCleared,
	) {
		this.stored = stored;
		this.whenCleared = whenCleared;
		this.linked = linked;
		this.unsent = unsent;
		this.objects = stored.mode === 'json' ? jsonObjects(n8n, stored.json) : inputObjects(n8n);
		this.origins = originsOf(n8n, stored);
		this.reading = new OncePerFields(({ fields, recordNames }) => ({
			reader: new ObjectReader(fields, recordNames),
			linkedValues: new LinkedRecordValues(n8n, linked, fields, unsent),
			plainNames: new Set(fields.filter((field) => !refersToOthers(field)).map(({ name }) => name)),
		}));
	}

	names(item: number): string[] {
		return [...this.ownNames(item), ...this.linked.map(({ linkName }) => linkName)];
	}

	private ownNames(item: number): string[] {
		try {
			return Object.keys(this.objects.readEarly(item));
		} catch {
			// The item fails with this error in its turn.
			return [];
		}
	}

	references(item: number, accepted: AcceptedFields): InputValue[] {
		const { reader, linkedValues, plainNames } = this.reading.for(accepted);
		const ofLinked = linkedValues.references(item);
		const object = this.objects.readEarly(item);
		if (Object.keys(object).every((name) => plainNames.has(name))) return ofLinked;
		return [...reader.read(object, this.isSkippedFrom(this.origins.readEarly(item))).values.filter(({ field }) => refersToOthers(field)), ...ofLinked];
	}

	values(item: number, accepted: AcceptedFields): EvaluatedValue[] {
		const { reader, linkedValues } = this.reading.for(accepted);
		const object = this.objects.readInTurn(item);
		const origin = this.origins.readInTurn(item);
		const { values, unknown, notObjects } = reader.read(object, this.isSkippedFrom(origin));
		// A model would take a success to cover everything it has sent.
		const isFromModel = this.stored.mode === 'json' && isFilledByModel(this.stored.json);
		const invented = isFromModel ? unknown.filter((name) => !accepted.recordNames.has(name)) : [];
		if (invented.length > 0 && accepted.fields.length > 0) throw inventedFields(invented, accepted.fields);
		for (const name of notObjects) this.unsent.notObject(name);
		noteUnknownNames(object, unknown, values, accepted, this.unsent);
		const all = [...values.map((fieldValue): EvaluatedValue => ({ ...fieldValue, origin })), ...linkedValues.all(item)];
		const names = Object.keys(object);
		if (all.length === 0 && names.length > 0) throw nothingToSend(names, accepted.fields);
		return all;
	}

	private isSkippedFrom(origin: ValueOrigin) {
		return (field: Field, value: unknown): boolean => decideValue({ field, value, origin }, this.whenCleared).action === 'skip';
	}
}

/** What the blanks of an item do: the option Empty Cells, whose expression is evaluated once for each item. */
function originsOf(n8n: IExecuteFunctions, stored: Stored<'automatic' | 'json'>): OncePerItem<ValueOrigin> {
	if (stored.mode === 'json') return new OncePerItem(() => 'chosen');
	const evaluation = new Evaluation(n8n, [{ label: 'Empty Cells', value: stored.emptyCells }]);
	return new OncePerItem((item) => {
		const emptyCells = readOption('Empty Cells', evaluation.valuesOf(item)[0], ['leave', 'clear']);
		return emptyCells === 'clear' ? 'cellThatClears' : 'cellThatLeaves';
	});
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
		accepted.recordNames.has(name) || name === outcomeField || accepted.recordWords?.has(wordsOf(name));
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
