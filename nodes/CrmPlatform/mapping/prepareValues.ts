import type { IDataObject } from 'n8n-workflow';

import { getOrCreate } from '../base/maps';
import { exactnessProblem } from '../base/numbers';
import { setAtPath } from '../base/ownMembers';
import { isRecordLink } from '../api/openapi/linkFields';
import { isSet } from '../fields/same';
import { refuseErrorText, uniqueValue, valueProblem } from '../fields/checks';
import { decideValue, type WhenCleared, writtenValue } from '../fields/decideValue';
import type { ConvertedValue, Field } from '../fields/field';
import { FieldError, fieldErrorOr } from '../fields/fieldError';
import { externalId, sourceId } from '../lookUp/sourceIds';
import type { Execution } from '../model';
import { inApiNotation, type Notations } from '../fields/notations';
import { isBlank } from '../values/blank';
import { chosenNotations } from './chosenNotations';
import { itemReader, type ReadItem } from './itemReader';
import { lookUpLinks, replaceNames, type LinkUse } from './linkedIds';
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

/** How the values of all items are converted. */
interface Conversion {
	whenCleared: WhenCleared;
	zone: string;
	notations: Notations | undefined;
	/** Whether the values are rows of a form. */
	isForm: boolean;
}

/** An item whose values are those that the service takes, with names of records in place of some ids. */
interface ConvertedItem {
	values: Array<ConvertedValue & { entered: unknown }>;
	unsent: UnsentValue[];
	refused: Array<{ field: Field; value: unknown; error: FieldError }>;
	/** Why none of its values can be sent. */
	refusal?: Error | undefined;
}

/**
 * Prepares the conversion of input items into bodies: read (`itemReader`) → convert (`converted`) → look up names of other
 * records (`lookUpLinks`) → check and set. Names are looked up together, before the first item is written. An item that may
 * have some is read and converted then, and waits for its turn: an expression that changes its item would return something
 * else the second time. All others are read in their turn.
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
	const notations = chosenNotations(n8n);
	const conversion: Conversion = { whenCleared, zone: n8n.getTimezone(), notations, isForm: stored.mode === 'each' };
	const reader = await itemReader(execution, stored, fields, whenCleared, otherNames);
	const convert = (item: number): ConvertedItem => {
		const readItem = reader.read(item);
		if (rows) for (const { field, value } of readItem.values) if (!isBlank(value)) rows.saw(field, value);
		return converted(readItem, conversion);
	};
	const early = new Map<number, ConvertedItem>();
	const mayBeNames = (item: number): ConvertedValue[] => {
		const { values, refused } = reader.mayLink(item) ? getOrCreate(early, item, () => convert(item)) : { values: [], refused: [] };
		return [...values, ...refused.map(({ field }) => ({ field, converted: undefined }))];
	};
	const use = rows?.use ?? execution.checking ?? 'written';
	const links = await lookUpLinks(execution, mayBeNames, use, notations?.source);
	const isChecked = (field: Field) => (rows ? rows.isChecked : use === 'checked') && !(rows?.use === 'verified' && isRecordLink(field));

	return (item) => {
		const { values, unsent, refused, refusal } = early.get(item) ?? convert(item);
		early.delete(item);
		for (const value of unsent) if (value.reason !== 'unknown' || !otherNames.includes(value.name)) reportUnsent(api, value);
		const errors: FieldError[] = [];
		const refuse = (field: Field, value: unknown, error: FieldError): void => {
			errors.push(error);
			rows?.refused({ field, value, message: error.message });
		};
		for (const { field, value, error } of refused) refuse(field, value, error);
		if (refusal) throw refusal;
		const body: IDataObject = {};
		for (const value of values) {
			const { field, entered } = value;
			const sent = fieldErrorOr(() => {
				const id = replaceNames(links, value, values);
				const problem = isChecked(field) ? valueProblem(field, id) : undefined;
				if (problem !== undefined) throw new FieldError(field, problem);
				return id;
			});
			if (sent instanceof FieldError) refuse(field, entered, sent);
			else setAtPath(body, field.path, isSet(field) && Array.isArray(sent) ? [...new Set(sent)] : sent);
		}
		if (errors.length > 0 && !rows) throw errors.length === 1 ? errors[0]! : new Error(errors.map(({ message }) => message).join('\n'));
		return body;
	};
}

/** Decides and converts the values of an item. One that cannot be sent does not keep the others from it. */
function converted({ values, unsent, refusal }: ReadItem, { whenCleared, zone, notations, isForm }: Conversion): ConvertedItem {
	const item: ConvertedItem = { values: [], unsent: [...unsent], refused: [], refusal };
	const blanks: string[] = [];
	let decided = 0;
	for (const { field, value, givenBy } of values) {
		let entered = value;
		const error = fieldErrorOr(() => {
			if (notations) entered = inNotation(field, value, notations);
			const decision = decideValue({ field, value: entered, givenBy }, whenCleared);
			decided += 1;
			if (decision.do === 'skip') {
				if (decision.reason === 'undefined') item.unsent.push({ reason: 'noValue', name: field.label });
				if (decision.reason === 'blank') blanks.push(field.label);
				return;
			}
			const written = decision.do === 'clear' ? null : writtenValue(field, field.unique ? uniqueValue(field, decision.value) : decision.value, zone);
			if (notations?.errorTexts !== 'written') refuseErrorText(field, written);
			item.values.push({ field, converted: written, entered });
		});
		if (error instanceof FieldError) item.refused.push({ field, value: entered, error });
	}
	if (!isForm && decided > 0 && blanks.length === decided) item.refusal ??= onlyBlanks(blanks, values[0]?.givenBy === 'model');
	return item;
}

/** A value in the notation of the API; an ID of another system becomes the external ID. */
function inNotation(field: Field, value: unknown, notations: Notations): unknown {
	const { source } = notations;
	if (source === undefined || field.name !== externalId.name || isBlank(value)) return inApiNotation(field, value, notations);
	const problem = exactnessProblem(value);
	if (problem !== undefined) throw new FieldError(field, problem);
	const id = String(uniqueValue(field, String(value)));
	return id.startsWith(`${source}:`) ? id : sourceId(source, id);
}
