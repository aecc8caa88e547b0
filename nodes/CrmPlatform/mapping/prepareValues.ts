import type { IDataObject } from 'n8n-workflow';

import { exactnessProblem } from '../base/numbers';
import { setAtPath } from '../base/ownMembers';
import { isRecordLink } from '../api/openapi/linkFields';
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
import { itemReaders, OncePerItem } from './itemReaders';
import { lookUpLinks, type LinkUse } from './linkedIds';
import type { StoredFields } from './storedFields';
import { onlyBlanks, UnsentValueLog } from './unsentValues';

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
 *    now, and its values wait for its turn (`OncePerItem`).
 * 2. For an item in its turn: its values are evaluated, if they are not yet (`itemReaders`), and become values that the
 *    service takes (`convert`), with ids instead of names (`LinkedIds`).
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
	const zone = n8n.getTimezone();
	const unsent = new UnsentValueLog(api, new Set(otherNames));
	const readers = itemReaders(execution, stored, whenCleared, otherNames);
	const fieldsOf = await acceptedFields(execution, stored.mode, (item) => readers.names(item), fields);
	const readerOf = oncePerFields(fieldsOf, (accepted) => readers.readerFor(accepted));
	const notations = chosenNotations(n8n);
	const evaluated = new OncePerItem((item) => {
		const read = readerOf(item).read(item);
		for (const { field, value } of rows ? read.values : []) if (!isBlank(value)) rows?.saw(field, value);
		return notations ? { ...read, values: read.values.map((value) => inNotation(value, notations)) } : read;
	});
	const mayBeNames = (item: number) =>
		readerOf(item).mayNameRecords(item) ? evaluated.peek(item).values.filter(({ problem }) => !problem) : [];
	const use = rows?.use ?? execution.checking ?? 'written';
	const linkedIds = await lookUpLinks(execution, mayBeNames, use, notations?.source);
	const isChecked = rows ? rows.isChecked : use === 'checked';
	const isForm = stored.mode === 'each';
	const writesErrors = notations?.errorTexts === 'written';

	return (item) => {
		for (const unsentValue of readerOf(item).neverSent) unsent.add(unsentValue);
		const { values, unsent: unsentValues, refusal } = evaluated.take(item);
		for (const unsentValue of unsentValues) unsent.add(unsentValue);
		if (refusal) throw refusal;
		const errors: FieldError[] = [];
		const refuse = (field: Field, error: FieldError) => {
			errors.push(error);
			rows?.refused({ field, value: values.find((other) => other.field === field)?.value, message: error.message });
		};
		const converted = convert(values, { whenCleared, zone, isForm, writesErrors, unsent, refuse });
		const body: IDataObject = {};
		for (const value of converted) {
			const { field } = value;
			const sent = fieldErrorOr(() => linkedIds.replaceNames(value, converted));
			const refusal = sent instanceof FieldError ? sent : isChecked && !(rows?.use === 'verified' && isRecordLink(field)) ? refusalOf(field, sent) : undefined;
			if (refusal) refuse(field, refusal);
			else setAtPath(body, field.path, isSet(field) && Array.isArray(sent) ? [...new Set(sent)] : sent);
		}
		const [first, ...others] = errors;
		if (first && !rows) throw others.length === 0 ? first : new FieldErrors([first, ...others]);
		return body;
	};
}

/** Decides which of an item's evaluated values are sent, and converts these. */
function convert(
	values: EvaluatedValue[],
	{ whenCleared, zone, isForm, writesErrors, unsent, refuse }: ConversionOptions,
): ConvertedValue[] {
	const decisions = values.flatMap((value) => {
		const decision = value.problem ?? fieldErrorOr(() => decideValue(value, whenCleared));
		if (!(decision instanceof FieldError)) return [{ field: value.field, ...decision }];
		refuse(value.field, decision);
		return [];
	});
	const skipped = decisions.filter((decision) => decision.action === 'skip');
	for (const { field, reason } of skipped) if (reason === 'undefined') unsent.add({ reason: 'noValue', name: field.label });
	const isBlankItem = decisions.length > 0 && skipped.filter(({ reason }) => reason === 'blank').length === decisions.length;
	if (isBlankItem && !isForm) throw onlyBlanks(decisions.map(({ field }) => field.label), values[0]?.origin === 'model');
	return decisions.flatMap((decision): ConvertedValue[] => {
		if (decision.action === 'skip') return [];
		const { field } = decision;
		const converted = fieldErrorOr(() => {
			if (decision.action === 'clear') return null;
			const written = writtenValue(field, field.unique ? uniqueValue(field, decision.value) : decision.value, zone);
			if (!writesErrors) refuseErrorText(field, written);
			return written;
		});
		if (!(converted instanceof FieldError)) return [{ field, converted }];
		refuse(field, converted);
		return [];
	});
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

interface ConversionOptions {
	whenCleared: WhenCleared;
	zone: string;
	/** Whether the values are rows of a form. */
	isForm: boolean;
	/** Whether texts such as `#N/A` are values. */
	writesErrors: boolean;
	unsent: UnsentValueLog;
	refuse: Refuse;
}

/** Takes the error of a value that cannot be sent. */
type Refuse = (field: Field, error: FieldError) => void;

function refusalOf(field: Field, value: unknown): FieldError | undefined {
	const problem = valueProblem(field, value);
	return problem === undefined ? undefined : new FieldError(field, problem);
}
