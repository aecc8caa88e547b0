import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { orThrow, resultOrError, resultsOrErrors } from '../base/results';
import { setAtPath } from '../base/ownMembers';
import { isLink, isRecordLink } from '../api/openapi/linkFields';
import { isUnordered } from '../fields/recordComparison';
import { valueProblem } from '../fields/checks';
import { convertValue, withCurrency, type Conversion, type EvaluatedValue, type WhenCleared } from '../fields/convertValue';
import { type ConvertedValue, currencyName, type Field, FieldError, fieldErrorOr, type InputValue } from '../fields/field';
import { isNumeric } from '../fields/fieldKinds';
import type { Notations } from '../fields/notations';
import type { Checks, MissingTargets, NodeRun } from '../model';
import { chosenNotations } from './chosenNotations';
import { addNamedRecords, findNamedRecords, type NamedRecords } from './findNamedRecords';
import { readItems, type Body, type Mapping } from './readItems';
import type { ReadItem } from './readObject';
import { addMissingParts, namesNewRecord, namesNewPart, replaceNames } from './replaceNames';
import { onlyBlanks, reportUnsent, UnsentValuesError } from './unsentValues';

/** The values of an item as the service takes them. */
export interface ItemValues extends Body {
	/** All values of a row as it has them; none of an input item. */
	read: EvaluatedValue[];
}

/** A value that the service takes, perhaps with names of records in place of ids; or why it cannot be sent. */
type SendableValue = ConvertedValue & InputValue & { error?: FieldError };

/**
 * Turns the values of all items into those that the service takes: read (`readItems`) → convert (`convertValue`) → find the
 * records that they name (`findNamedRecords`), together → replace the names by ids (`replaceNames`).
 *
 * A linked record takes precedence over a mapped value.
 *
 * @param items by default, the rows of a file or all input items
 * @returns for each item its values, or why none of them can be sent, in the user's words
 */
export async function valuesOfItems(
	run: NodeRun,
	mapping: Mapping,
	items?: INodeExecutionData[],
): Promise<Array<ItemValues | Error>> {
	const { n8n, api, rows, missing, checks = { links: 'none', values: false } } = run;
	const chosen = chosenNotations(n8n);
	const notations: Notations | undefined = rows ? { ...chosen, numbers: chosen?.numbers ?? 'unclear' } : chosen;
	const conversion: Conversion = { notations, whenCleared: mapping.whenCleared, zone: n8n.getTimezone() };
	const currency = mapping.fields.find(({ name }) => name === currencyName);
	const all = items ?? rows ?? n8n.getInputData();
	// Once: an expression that changes its item would return something else the second time.
	const results = await readItems(run, all, mapping);
	const converted = await resultsOrErrors(results.length, (item) => {
		const read = orThrow(results[item]!);
		const refusesBlanks = mapping.stored.mode !== 'each';
		const decided = convertItem(read, withCurrency(read.values, conversion, currency), refusesBlanks, checks.values);
		const sendable = mapping.leavesOut ? withoutHalfAmounts(decided.sendable, mapping.whenCleared) : decided.sendable;
		return { ...decided, sendable, read: rows ? read.values : [] };
	});
	const values = converted.map((item) => (item instanceof Error ? [] : item.sendable));
	const search = { ...run, linkChecks: checks.links, source: notations?.source };
	const found = await findNamedRecords(search, values);
	// As if what is missing were added already. Nothing is added for an item that another value keeps from being written.
	const bodies = await resultsOrErrors(values.length, (item) => sendableBody(values[item]!, found, checks, missing));
	const areWritten = await resultsOrErrors(values.length, (item) =>
		!orThrow(converted[item]!).refusal && (mapping.isWritable?.(item, orThrow(bodies[item]!)) ?? true));
	const written = values.filter((_, item) => areWritten[item] === true);
	const adds = missing?.addPart !== undefined || [...found.records.values()].some(({ newNames }) => newNames.size > 0);
	const named = adds ? await addNamedRecords(search, found, written) : found;
	if (missing?.addPart) await addMissingParts(api, named, written, missing.addPart);
	return await resultsOrErrors(converted.length, (item) => {
		const { sendable, unsent, refusal, read } = orThrow(converted[item]!);
		// Without the service's own description, it is not known whether the name belongs to a field.
		for (const { reason, name } of unsent) if (reason === 'unknown') api.requireDescription(`The field ${name}`);
		if (mapping.stored.mode === 'model' && unsent.length > 0) throw new UnsentValuesError(run.operation.option.name, mapping.fields, unsent);
		for (const value of unsent) reportUnsent(api, value);
		if (refusal) throw refusal;
		return { ...(adds && areWritten[item] === true ? sendableBody(sendable, named, checks) : orThrow(bodies[item]!)), read };
	});
}

/**
 * The same as bodies of requests. An item of which a value cannot be sent is an error.
 *
 * @param check throws if an item must not be written; called once for each whose values can be sent. A name stands for
 * the id of a record to create
 */
export async function bodiesOfItems(
	run: NodeRun,
	mapping: Omit<Mapping, 'isWritable'>,
	{ items, check = () => {} }: { items?: INodeExecutionData[] | undefined; check?: (item: number, body: IDataObject) => void } = {},
): Promise<Array<IDataObject | Error>> {
	const refusals = new Map<number, Error>();
	const isWritable: Mapping['isWritable'] = (item, { body, refusedValues }) => {
		const refusal = refusedValues.length > 0 ? undefined : resultOrError(() => check(item, body));
		if (refusal) refusals.set(item, refusal);
		return refusedValues.length === 0 && !refusal;
	};
	const all = await valuesOfItems(run, { ...mapping, isWritable }, items);
	return all.map((values, item) => {
		if (values instanceof Error) return values;
		const [first, ...others] = values.refusedValues;
		if (!first) return refusals.get(item) ?? values.body;
		return others.length === 0 ? first.error : new Error(values.refusedValues.map(({ error }) => error.message).join('\n'));
	});
}

/**
 * Converts the values of an item. One that cannot be sent does not keep the others from it.
 *
 * @param refusesBlanks whether an item with nothing but blanks is told what would clear its fields
 * @param isChecked whether values of other fields than links are checked
 */
function convertItem(item: ReadItem, conversion: Conversion, refusesBlanks: boolean, isChecked: boolean) {
	const unsent = [...item.unsent];
	const blanks: string[] = [];
	const sendable: SendableValue[] = [];
	for (const evaluated of item.values) {
		const { field, value, newNamesOf } = evaluated;
		const converted = fieldErrorOr(() => {
			const decided = convertValue(evaluated, conversion);
			if (isChecked && decided.do === 'write' && !isLink(field)) requireValid(field, decided.value);
			return decided;
		});
		if (converted instanceof FieldError) sendable.push({ field, value, converted: undefined, error: converted });
		else if (converted.do === 'write') sendable.push({ field, value, converted: converted.value, newNamesOf });
		else if (converted.reason === 'undefined') unsent.push({ reason: 'noValue', name: field.label });
		else if (converted.reason === 'blank') blanks.push(field.label);
	}
	const isRefused = refusesBlanks && blanks.length > 0 && blanks.length === item.values.length;
	const refusal = item.refusal ?? (isRefused ? onlyBlanks(blanks, item.values[0]?.givenBy === 'model') : undefined);
	return { sendable, unsent, refusal };
}

/** A value that could be sent, if another one of its item were not refused. */
export class RefusedWithOther extends FieldError {}

/**
 * The values of an item that is written without those that cannot be sent: also without the amounts of a refused currency,
 * and without a currency none of whose amounts is written, since the record may have others. Any number that is no key may be an amount.
 */
function withoutHalfAmounts(values: SendableValue[], whenCleared: WhenCleared): SendableValue[] {
	const isCurrency = ({ field }: SendableValue) => field.name === currencyName;
	const isAmount = ({ field }: SendableValue) => isNumeric(field) && field.collection === undefined && field.unique !== true;
	const isSent = ({ converted, error }: SendableValue) => !error && converted !== null;
	const refused = values.find((value) => value.error && isCurrency(value)) ?? values.find((value) => value.error && isAmount(value));
	if (!refused) return values;
	const amounts = values.filter((value) => isAmount(value) && isSent(value));
	const isAlone = whenCleared === 'clear' && amounts.length === 0;
	const others = isCurrency(refused) ? amounts : values.filter((value) => isAlone && isCurrency(value));
	const errorOf = ({ field }: SendableValue) => new RefusedWithOther(field, `the value of ${refused.field.label}, to which it belongs, is refused.`);
	return values.map((value) => (others.includes(value) ? { ...value, converted: undefined, error: errorOf(value) } : value));
}

/** @throws FieldError for a value that the field does not take */
function requireValid(field: Field, value: unknown): void {
	const problem = valueProblem(field, value);
	if (problem !== undefined) throw new FieldError(field, problem);
}

/**
 * The body with the ids of the named records, and the values that cannot be sent.
 *
 * @param missing what will be added
 */
function sendableBody(values: SendableValue[], named: NamedRecords, checks: Checks, missing: MissingTargets = {}): Body {
	const body: IDataObject = {};
	const refusedValues: Body['refusedValues'] = [];
	for (const value of values) {
		const { field, converted, error } = value;
		const sendable = error ?? fieldErrorOr(() => {
			if (namesNewPart(named, value, values, missing)) return converted;
			const id = replaceNames(named, value, values);
			const isLookedUp = namesNewRecord(named, value) || (checks.links === 'all' && isRecordLink(field));
			if (checks.values && !isLookedUp && isLink(field)) requireValid(field, id);
			return id;
		});
		if (sendable instanceof FieldError) refusedValues.push({ field, value: value.value, error: sendable });
		else setAtPath(body, field.path, isUnordered(field) && Array.isArray(sendable) ? [...new Set(sendable)] : sendable);
	}
	return { body, refusedValues };
}
