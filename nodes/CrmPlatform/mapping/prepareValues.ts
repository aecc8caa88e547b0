import type { IDataObject } from 'n8n-workflow';

import { getOrCreate } from '../base/maps';
import { exactnessProblem } from '../base/numbers';
import { setAtPath } from '../base/ownMembers';
import { isLink, isRecordLink } from '../api/openapi/linkFields';
import { isSet } from '../fields/same';
import { refuseErrorText, uniqueValue, valueProblem } from '../fields/checks';
import { decideValue, type EvaluatedValue, type WhenCleared, writtenValue } from '../fields/decideValue';
import type { ConvertedValue, Field } from '../fields/field';
import { FieldError, FieldErrors, fieldErrorOr } from '../fields/fieldError';
import { externalId, sourceId } from '../lookUp/sourceIds';
import type { Execution } from '../model';
import { inApiNotation, type Notations } from '../fields/notations';
import { isBlank } from '../values/blank';
import { acceptedFields, oncePerFields } from './acceptedFields';
import { chosenNotations } from './chosenNotations';
import { itemReaders, type ReadItem } from './itemReaders';
import { lookUpLinks, type LinkedIds, type LinkUse } from './linkedIds';
import type { StoredFields } from './storedFields';
import { onlyBlanks, reportUnsent, type UnsentValue } from './unsentValues';

/** The request body for an input item. */
export type BodyOf = (item: number) => IDataObject;

/** A value that cannot be sent, and why. */
export interface RefusedValue {
	field: Pick<Field, 'name' | 'label'>;
	/** As the item has it. */
	value: unknown;
	message: string;
}

/** How the rows of a file are read. */
export interface RowReading {
	use: LinkUse;
	/** Whether values are checked against the description; otherwise the service refuses them. */
	isChecked: boolean;
	/** Takes each value that is not blank, as the row has it. */
	saw(field: Field, value: unknown): void;
	/** Takes each value that cannot be sent. */
	refused(value: RefusedValue): void;
}

/**
 * Prepares the conversion of input items into bodies, in two passes:
 *
 * 1. Over all items, before the first is written: the fields that each accepts (`acceptedFields`), and the names of other
 *    records in its values, which are looked up together (`lookUpLinks`). An item that may have such names is evaluated
 *    now, and its values wait for its turn: an expression that changes its item would return something else the second time.
 * 2. For an item in its turn: its values are evaluated, if they are not yet (`itemReaders`), and become values that the
 *    service takes, with ids instead of names (`LinkedIds`).
 *
 * A linked record takes precedence over a mapped value.
 *
 * @param fields the fields that the service takes
 * @param whenCleared what clearing a field does in this operation
 * @param otherNames names of item values with other purposes
 * @param rows takes the values that do not fit their fields, without which the rest of the item is returned
 * @throws Error from the returned function, in the user's words, if values do not fit their fields, or if none of an
 * item's values can be sent
 */
export async function prepareValues(
	execution: Execution,
	stored: StoredFields,
	fields: Field[],
	whenCleared: WhenCleared,
	otherNames: string[] = [],
	rows?: RowReading,
): Promise<BodyOf> {
	const { n8n, api } = execution;
	const readers = itemReaders(execution, stored, whenCleared, otherNames);
	const fieldsOf = await acceptedFields(execution, stored.mode, (item) => readers.names(item), fields);
	const readerOf = oncePerFields(fieldsOf, (accepted) => readers.readerFor(accepted));
	const notations = chosenNotations(n8n);
	const read = (item: number): ReadItem => {
		const readItem = readerOf(item)(item);
		if (rows) for (const { field, value } of readItem.values) if (!isBlank(value)) rows.saw(field, value);
		return notations ? { ...readItem, values: readItem.values.map((value) => inNotation(value, notations)) } : readItem;
	};
	const plainNamesOf = oncePerFields(fieldsOf, (accepted) => new Set(accepted.fields.filter((field) => !isLink(field)).map(({ name }) => name)));
	const early = new Map<number, ReadItem>();
	const mayBeNames = (item: number): EvaluatedValue[] => {
		const plainNames = plainNamesOf(item);
		if (readers.names(item).every((name) => plainNames.has(name))) return [];
		return getOrCreate(early, item, () => read(item)).values.filter(({ problem }) => !problem);
	};
	const use = rows?.use ?? execution.checking ?? 'written';
	const linkedIds = await lookUpLinks(execution, mayBeNames, use, notations?.source);
	const isChecked = rows ? rows.isChecked : use === 'checked';
	const conversion: Conversion = {
		whenCleared,
		zone: n8n.getTimezone(),
		isForm: stored.mode === 'each',
		writesErrors: notations?.errorTexts === 'written',
		isChecked: (field) => isChecked && !(rows?.use === 'verified' && isRecordLink(field)),
		linkedIds,
		report: (value) => value.reason === 'unknown' && otherNames.includes(value.name) ? undefined : reportUnsent(api, value),
		rows,
	};

	return (item) => {
		const readItem = early.get(item) ?? read(item);
		early.delete(item);
		return bodyFrom(readItem, conversion);
	};
}

/** How the values of all items become bodies. */
interface Conversion {
	whenCleared: WhenCleared;
	zone: string;
	/** Whether the values are rows of a form. */
	isForm: boolean;
	/** Whether texts such as `#N/A` are values. */
	writesErrors: boolean;
	/** Whether values of a field are checked against the description. */
	isChecked(field: Field): boolean;
	linkedIds: LinkedIds;
	/** Tells the user that a value is not sent. */
	report(value: UnsentValue): void;
	rows: RowReading | undefined;
}

/** @throws as `prepareValues` */
function bodyFrom({ values, unsent, refusal }: ReadItem, { whenCleared, zone, isForm, writesErrors, isChecked, linkedIds, report, rows }: Conversion): IDataObject {
	for (const value of unsent) report(value);
	if (refusal) throw refusal;
	const errors: FieldError[] = [];
	/** A FieldError refuses the value alone. */
	const orRefuse = (field: Field, convert: () => void): void => {
		const error = fieldErrorOr(convert);
		if (!(error instanceof FieldError)) return;
		errors.push(error);
		rows?.refused({ field, value: values.find((other) => other.field === field)?.value, message: error.message });
	};
	const converted: ConvertedValue[] = [];
	const blanks: string[] = [];
	let decided = 0;
	for (const value of values) {
		const { field, problem } = value;
		orRefuse(field, () => {
			if (problem) throw problem;
			const decision = decideValue(value, whenCleared);
			decided += 1;
			if (decision.action === 'skip') {
				if (decision.reason === 'undefined') report({ reason: 'noValue', name: field.label });
				if (decision.reason === 'blank') blanks.push(field.label);
				return;
			}
			const written = decision.action === 'clear' ? null : writtenValue(field, field.unique ? uniqueValue(field, decision.value) : decision.value, zone);
			if (!writesErrors) refuseErrorText(field, written);
			converted.push({ field, converted: written });
		});
	}
	if (!isForm && decided > 0 && blanks.length === decided) throw onlyBlanks(blanks, values[0]?.origin === 'model');
	const body: IDataObject = {};
	for (const value of converted) {
		const { field } = value;
		orRefuse(field, () => {
			const sent = linkedIds.replaceNames(value, converted);
			const problem = isChecked(field) ? valueProblem(field, sent) : undefined;
			if (problem !== undefined) throw new FieldError(field, problem);
			setAtPath(body, field.path, isSet(field) && Array.isArray(sent) ? [...new Set(sent)] : sent);
		});
	}
	const [first, ...others] = errors;
	if (first && !rows) throw others.length === 0 ? first : new FieldErrors([first, ...others]);
	return body;
}

/** A value in the notation of the API; one that cannot be read keeps its own. */
function inNotation(value: EvaluatedValue, notations: Notations): EvaluatedValue {
	const read = fieldErrorOr(() => {
		const isExternalId = notations.source !== undefined && value.field.name === externalId.name && !isBlank(value.value);
		return isExternalId ? idInSource(value, notations.source) : inApiNotation(value.field, value.value, notations);
	});
	return read instanceof FieldError ? { ...value, problem: read } : { ...value, value: read };
}

/** The external ID of a record of another system. */
function idInSource({ field, value }: EvaluatedValue, source = ''): string {
	const problem = exactnessProblem(value);
	if (problem !== undefined) throw new FieldError(field, problem);
	const id = String(uniqueValue(field, String(value)));
	return id.startsWith(`${source}:`) ? id : sourceId(source, id);
}
