import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { orThrow } from '../base/errorOf';
import { exactnessProblem } from '../base/numbers';
import { setAtPath } from '../base/ownMembers';
import { isRecordLink } from '../api/openapi/linkFields';
import { isSet } from '../fields/same';
import { refuseErrorText, uniqueValue, valueProblem } from '../fields/checks';
import { apiValue, decideValue, type EvaluatedValue, type ValueDecision } from '../fields/decideValue';
import type { ConvertedValue, Field } from '../fields/field';
import { FieldError, fieldErrorOr } from '../fields/fieldError';
import { externalId, sourceId } from '../lookUp/sourceIds';
import type { Checks, Execution } from '../model';
import { inApiNotation, type Notations } from '../fields/notations';
import { isBlank } from '../values/blank';
import { chosenNotations } from './chosenNotations';
import { readEach } from './expressions/evaluation';
import { findLinks } from './findLinks';
import { replaceNames, type FoundLinks } from './linkedIds';
import { itemReading, readItem, type Mapping, type ReadItem } from './readItems';
import type { StoredFields } from './storedFields';
import { onlyBlanks, reportUnsent } from './unsentValues';

/** A value that cannot be sent, as the item has it, and why. */
interface RefusedValue {
	field: Field;
	value: unknown;
	error: FieldError;
}

/** The values of an item as the service takes them. */
export interface ItemValues {
	body: IDataObject;
	/** Those that cannot be sent; the body is without them. */
	refused: RefusedValue[];
	/** All values of a row as it has them; none of an input item. */
	read: EvaluatedValue[];
}

/** How the values of all items are converted. */
interface Conversion extends Pick<Mapping, 'whenCleared'> {
	zone: string;
	notations: Notations | undefined;
	/** Where the values come from. */
	mode: StoredFields['mode'] | 'row';
}

/** A value that the service takes, perhaps with names of records in place of ids; or why it cannot be sent. */
type SendableValue = ConvertedValue & { entered: unknown; error?: FieldError };

/** An item whose values are converted. */
interface ConvertedItem extends Pick<ReadItem, 'unsent' | 'refusal'>, Pick<ItemValues, 'read'> {
	sendable: SendableValue[];
}

/**
 * Turns the values of all items into those that the service takes: read and convert (`convertedItem`) → find the records
 * that they name (`findLinks`) → replace the names by ids (`sendableBody`). Names are looked up together.
 *
 * A linked record takes precedence over a mapped value.
 *
 * @param items by default, the rows of a file or all input items
 * @returns for each item its values, or why none of them can be sent, in the user's words
 */
export async function valuesOfItems(
	execution: Execution,
	mapping: Mapping,
	items?: INodeExecutionData[],
): Promise<Array<ItemValues | Error>> {
	const { n8n, api, rows, checks = { links: 'none', values: false } } = execution;
	const notations = chosenNotations(n8n);
	const mode = rows ? 'row' : mapping.stored.mode;
	const conversion: Conversion = { whenCleared: mapping.whenCleared, zone: n8n.getTimezone(), notations, mode };
	const all = items ?? rows ?? n8n.getInputData();
	const reading = await itemReading(execution, all, mapping);
	// Once: an expression that changes its item would return something else the second time.
	const converted = await readEach(all.length, (item) => convertedItem(readItem(reading, item), conversion));
	const values = converted.map((item) => (item instanceof Error ? [] : item.sendable));
	const links = await findLinks({ ...execution, check: checks.links, source: notations?.source }, values);
	return await readEach(converted.length, (item) => {
		const { sendable, unsent, refusal, read } = orThrow(converted[item]!);
		for (const value of unsent) reportUnsent(api, value);
		if (refusal) throw refusal;
		return { ...sendableBody(sendable, links, checks), read };
	});
}

/** The same as bodies of requests. An item of which a value cannot be sent is an error. */
export async function bodiesOfItems(
	execution: Execution,
	mapping: Mapping,
	items?: INodeExecutionData[],
): Promise<Array<IDataObject | Error>> {
	const all = await valuesOfItems(execution, mapping, items);
	return all.map((item) => {
		if (item instanceof Error) return item;
		const [first, ...others] = item.refused;
		if (!first) return item.body;
		return others.length === 0 ? first.error : new Error(item.refused.map(({ error }) => error.message).join('\n'));
	});
}

/** Decides and converts the values of an item. One that cannot be sent does not keep the others from it. */
function convertedItem(item: ReadItem, conversion: Conversion): ConvertedItem {
	const unsent = [...item.unsent];
	const blanks: string[] = [];
	const sendable: SendableValue[] = [];
	for (const value of item.values) {
		const { field, value: entered } = value;
		const outcome = fieldErrorOr(() => convertedValue(value, conversion));
		if (outcome instanceof FieldError) sendable.push({ field, entered, converted: undefined, error: outcome });
		else if ('converted' in outcome) sendable.push({ field, entered, converted: outcome.converted });
		else if (outcome.reason === 'undefined') unsent.push({ reason: 'noValue', name: field.label });
		else if (outcome.reason === 'blank') blanks.push(field.label);
	}
	const isBlankItem = conversion.mode !== 'each' && blanks.length > 0 && blanks.length === item.values.length;
	const refusal = item.refusal ?? (isBlankItem ? onlyBlanks(blanks, item.values[0]?.givenBy === 'model') : undefined);
	return { sendable, unsent, refusal, read: conversion.mode === 'row' ? item.values : [] };
}

/** @returns the value that the service takes, or why none is sent. @throws FieldError if it cannot be sent */
function convertedValue(
	{ field, value, givenBy }: EvaluatedValue,
	{ whenCleared, zone, notations }: Conversion,
): { converted: unknown } | Extract<ValueDecision, { do: 'skip' }> {
	const decision = decideValue({ field, value: notations ? inNotation(field, value, notations) : value, givenBy }, whenCleared);
	if (decision.do === 'skip') return decision;
	return { converted: valueToSend(field, decision.do === 'clear' ? null : decision.value, { zone, notations }) };
}

/** The value that the service takes, of one in the notation of the API. @throws FieldError if it cannot be sent */
export function valueToSend(field: Field, value: unknown, { zone, notations }: Pick<Conversion, 'zone' | 'notations'>): unknown {
	const converted = apiValue(field, field.unique && value !== null ? uniqueValue(field, value) : value, zone);
	if (notations?.errorTexts !== 'written') refuseErrorText(field, converted);
	return converted;
}

/** The body with the ids of the named records, and the values that cannot be sent. */
function sendableBody(values: SendableValue[], links: FoundLinks, checks: Checks): Pick<ItemValues, 'body' | 'refused'> {
	const body: IDataObject = {};
	const refused: RefusedValue[] = [];
	for (const value of values) {
		const { field, entered } = value;
		const sent = value.error ?? fieldErrorOr(() => {
			const id = replaceNames(links, value, values);
			const isLookedUp = checks.links === 'all' && isRecordLink(field);
			const problem = checks.values && !isLookedUp ? valueProblem(field, id) : undefined;
			if (problem !== undefined) throw new FieldError(field, problem);
			return id;
		});
		if (sent instanceof FieldError) refused.push({ field, value: entered, error: sent });
		else setAtPath(body, field.path, isSet(field) && Array.isArray(sent) ? [...new Set(sent)] : sent);
	}
	return { body, refused };
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
