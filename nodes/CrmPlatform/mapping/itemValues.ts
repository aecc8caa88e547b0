import type { IDataObject } from 'n8n-workflow';

import { orThrow, resultsOrErrors } from '../base/results';
import { setAtPath } from '../base/ownMembers';
import { isLink, isRecordLink } from '../api/openapi/linkFields';
import { isUnordered } from '../fields/recordComparison';
import { valueProblem } from '../fields/checks';
import { convertValue, withCurrency, type Conversion, type EvaluatedValue, type WhenCleared } from '../fields/convertValue';
import { type ConvertedValue, currencyName, customKeyOf, type Field, FieldError, fieldErrorOr, type InputValue } from '../fields/field';
import { isNumeric } from '../fields/fieldKinds';
import type { Notations } from '../fields/notations';
import type { Checks, MissingTargets, NodeRun } from '../model';
import { chosenNotations } from './chosenNotations';
import {
	addNamedRecords, findNamedRecords, type LinkResults, addMissingParts, namesNewRecord, namesNewPart, replaceNames,
} from './resolveLinks';
import { readItems, type Body, type Mapping } from './readItems';
import type { ReadItem } from './readObject';
import { onlyBlanks, reportUnsent, UnsentValuesError } from './unsentValues';

/** The values of an item as the service takes them. */
export interface ItemValues extends Body {
	/** All values of a row as it has them; none of an input item. */
	read: EvaluatedValue[];
}

/** The values of all items, as if what is missing were added: names stand for the IDs of records to create. */
interface ValuesOfItems {
	/** Of an item none of whose values can be sent: why, in the user's words. */
	values: Array<ItemValues | Error>;
	/** Adds what is missing for the items that are written, but nothing for others. @returns the final values */
	add: ((isWritten: boolean[]) => Promise<Array<ItemValues | Error>>) | undefined;
}

/** A value that the service takes, perhaps with names of records in place of ids; or why it cannot be sent. */
type SendableValue = ConvertedValue & InputValue & { error?: FieldError };

/**
 * Turns the values of all items into those that the service takes: read (`readItems`) → convert (`convertValue`) → find the
 * records that they name (`findNamedRecords`), together → replace the names by ids (`replaceNames`).
 *
 * A linked record takes precedence over a mapped value.
 */
export async function valuesOfItems(run: NodeRun, mapping: Mapping): Promise<ValuesOfItems> {
	const { n8n, api, onMissingLink, checks = { links: 'none', values: false } } = run;
	const { areRows = false } = mapping;
	const chosen = chosenNotations(n8n);
	const notations: Notations | undefined = areRows ? { ...chosen, numbers: chosen?.numbers ?? 'unclear' } : chosen;
	const conversion: Conversion = { notations, whenCleared: mapping.whenCleared, zone: n8n.getTimezone() };
	const currency = mapping.fields.find(({ name }) => name === currencyName);
	// Once: an expression that changes its item would return something else the second time.
	const results = await readItems(run, mapping);
	const converted = await resultsOrErrors(results.length, (item) => {
		const read = orThrow(results[item]!);
		const { sendable, unsent, refusal } = convertItem(read, mapping, withCurrency(read.values, conversion, currency), checks.values);
		// Without the service's own description, it is not known whether the name belongs to a field.
		for (const { reason, name } of unsent) if (reason === 'unknown') api.requireDescription(`The field ${name}`);
		if (mapping.stored.mode === 'model' && unsent.length > 0) throw new UnsentValuesError(run.operation.option.name, mapping.fields, unsent);
		for (const value of unsent) reportUnsent(api, value);
		if (refusal) throw refusal;
		return { sendable, read: areRows ? read.values : [] };
	});
	const search = { ...run, areRows, linkChecks: checks.links, source: notations?.source };
	const found = await findNamedRecords(search, converted.flatMap((item) => (item instanceof Error ? [] : [item.sendable])));
	const valuesOf = (item: number, named: LinkResults, missing?: MissingTargets): ItemValues => {
		const { sendable, read } = orThrow(converted[item]!);
		return { ...sendableBody(sendable, named, checks, missing), read };
	};
	const values = await resultsOrErrors(converted.length, (item) => valuesOf(item, found, onMissingLink));
	const adds = onMissingLink?.addPart !== undefined || [...found.records.values()].some(({ newNames }) => newNames.size > 0);
	const add: ValuesOfItems['add'] = async (isWritten) => {
		const written = converted.flatMap((item, i) => (item instanceof Error || !isWritten[i] ? [] : [item.sendable]));
		const named = await addNamedRecords(search, found, written);
		if (onMissingLink?.addPart) await addMissingParts(api, named, written, onMissingLink.addPart);
		return await resultsOrErrors(values.length, (item) => (isWritten[item] ? valuesOf(item, named) : orThrow(values[item]!)));
	};
	return { values, add: adds ? add : undefined };
}

/** Throws if an item must not be written; called only for those whose values can be sent. */
type Check = (item: number, body: IDataObject) => void;

/** The values of items as bodies of requests. An item of which a value cannot be sent is an error. */
export async function bodiesOf(all: Array<ItemValues | Error>, check: Check = () => {}): Promise<Array<IDataObject | Error>> {
	return await resultsOrErrors(all.length, (item) => {
		const { body, refusedValues } = orThrow(all[item]!);
		const [first, ...others] = refusedValues.map(({ error }) => error);
		if (first) throw others.length === 0 ? first : new Error([first, ...others].map(({ message }) => message).join('\n'));
		check(item, body);
		return body;
	});
}

/**
 * The same of all items, with what had to be added.
 *
 * @param check is called again if records are created. Before, a name stands for the id of a record to create
 */
export async function bodiesOfItems(run: NodeRun, mapping: Mapping, check?: Check): Promise<Array<IDataObject | Error>> {
	const { values, add } = await valuesOfItems(run, mapping);
	const bodies = await bodiesOf(values, check);
	return add ? await bodiesOf(await add(bodies.map((body) => !(body instanceof Error))), check) : bodies;
}

/** A value that cannot be sent does not keep the others from it. @param isChecked whether values of other fields than links are checked */
function convertItem(item: ReadItem, { stored, leavesOut }: Mapping, conversion: Conversion, isChecked: boolean) {
	const unsent = [...item.unsent];
	const blanks: string[] = [];
	const sendable: SendableValue[] = [];
	for (const evaluated of item.values) {
		const { field, value, newNamesOf } = evaluated;
		const decision = fieldErrorOr(() => {
			const decided = convertValue(evaluated, conversion);
			if (isChecked && decided.do === 'write' && !isLink(field)) requireValid(field, decided.value);
			return decided;
		});
		if (decision instanceof FieldError) sendable.push({ field, value, converted: undefined, error: decision });
		else if (decision.do === 'write') sendable.push({ field, value, converted: decision.value, newNamesOf });
		else if (decision.reason === 'undefined') unsent.push({ reason: 'noValue', name: field.label });
		else if (decision.reason === 'blank') blanks.push(field.label);
	}
	// Whoever maps each field is not told what would clear them.
	const isRefused = stored.mode !== 'each' && blanks.length > 0 && blanks.length === item.values.length;
	const refusal = item.refusal ?? (isRefused ? onlyBlanks(blanks, item.values[0]?.givenBy === 'model') : undefined);
	return { sendable: leavesOut ? withoutHalfAmounts(sendable, conversion.whenCleared) : sendable, unsent, refusal };
}

/** A value that could be sent, if another one of its item were not refused. */
export class RefusedWithOther extends FieldError {}

/**
 * The values of an item that is written without those that cannot be sent: also without the amounts of a refused currency,
 * and without a currency none of whose amounts is written, since the record may have others. A number is an amount if it may have
 * decimals and any size: no count, no percentage. Of custom fields nobody says so.
 */
function withoutHalfAmounts(values: SendableValue[], whenCleared: WhenCleared): SendableValue[] {
	const isCurrency = ({ field }: SendableValue) => field.name === currencyName;
	const isAmount = ({ field }: SendableValue) =>
		isNumeric(field) && !field.isInteger && (field.maximum ?? Infinity) > 100 && field.unique !== true
		&& !isLink(field) && customKeyOf(field.name) === undefined;
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

/** With the ids of the named records. @param missing what will be added */
function sendableBody(values: SendableValue[], named: LinkResults, checks: Checks, missing: MissingTargets = {}): Body {
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
