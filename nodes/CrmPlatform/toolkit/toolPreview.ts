import type { IDataObject } from 'n8n-workflow';

import type { WriteDescription } from '../api/openapi/writing';
import { parseJson } from '../base/json';
import { isPlainObject, memberAtPath } from '../base/ownMembers';
import type { FieldChange } from '../changes/apply';
import { RecordComparison } from '../fields/recordComparison';
import { customKeyOf, labelFor, type Field } from '../fields/field';
import { valueType, type ValueType } from '../fields/fieldKinds';
import type { NodeRun, Write } from '../model';
import { quoted } from '../nodeAsTool/toolAnswer';
import { isBlank } from '../values/blank';
import { momentIn } from '../values/dates';
import { forModel, writableFields, type NamedRecord, type ToolkitCall } from './toolkitCall';

/** Maximum characters of a text that no person has to approve. */
const maxTextLength = 200;

/** Number of equal characters shown around a difference. */
const contextLength = 40;

/** A write in words: `Update deal “Altamira” (dea_…): Title: “Altamira” → “Alta Mira”; Amount: 1,200 → 12,000`. */
export interface WriteInWords {
	/** `Update deal “Altamira” (dea_…)`. */
	name: string;
	short: string;
	/** With all values in full, for a person to approve. */
	full: string;
	/** Whether the record has these values already. */
	isUnchanged: boolean;
}

/** A write that the model requests, as it would be sent. */
export interface PlannedWrite {
	run: NodeRun;
	description: WriteDescription;
	write: Write;
	recordToChange: NamedRecord | undefined;
	words: WriteInWords;
}

/** Describes a write. Texts are quoted, so that none of them can look like another change. */
export async function writeInWords(
	call: ToolkitCall, { run: { operation }, description, write, recordToChange }: Omit<PlannedWrite, 'words'>,
): Promise<WriteInWords> {
	const fields = await writableFields(call);
	const name = `${operation.option.name} ${call.toolkitType.name}${recordToChange ? ` ${recordToChange.title}` : ''}`;
	// The values that the record has afterwards, as far as they are known.
	const values = { ...writtenBody(write), ...(recordToChange && write.sets?.(recordToChange.record)) };
	const changes = await shownChanges(call, fields, values, recordToChange?.record);
	const isUpdate = description.method === 'PATCH' || description.replaces === true;
	const toolAction = recordToChange && operation.toolAction;
	// Only an update's values say all that it changes.
	const effect = toolAction && !isUpdate ? String(operation.option.description) : '';
	// A person has to see the contents of whatever leaves the CRM.
	const showsContent = toolAction?.leavesTheCrm === true && call.settings.asksFirst;
	const content = showsContent ? await shownChanges(call, fields, enteredValues(recordToChange!.record, fields)) : [];
	return {
		name,
		short: inOneLine(name, changesText(changes, maxTextLength)),
		full: inOneLine(name, effect, changesText(changes, Infinity), changesText(content, Infinity)),
		isUnchanged: recordToChange !== undefined && (isUpdate || write.sets !== undefined) && changes.length === 0,
	};
}

/** The values of a write, as in a record that was read. */
export const writtenBody = ({ body = {} }: Write): IDataObject => parseJson(JSON.stringify(body)) as IDataObject;

/** The values of a record that people enter, not the service. */
const enteredValues = (record: IDataObject, fields: Field[]): IDataObject =>
	Object.fromEntries(Object.entries(record).filter(([name, value]) => fields.some(({ path: [first] }) => first === name) && !isBlank(value)));

/** Shows what a text could hide from the person who approves it, or imitate: line breaks, and characters that nobody sees. */
const inOneLine = (name: string, ...details: string[]): string =>
	[name, details.filter(Boolean).join('; ')].filter(Boolean).join(': ')
		.replace(/(?:\s*[\r\n\u2028\u2029]\s*)+/g, ' ⏎ ')
		.replace(/(?![\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);

/** A change, with names in place of ids. */
interface ShownChange {
	label: string;
	to: unknown;
	/** Absent without a record, which may have any value. */
	from?: unknown;
	/** The change with the ids. */
	change: FieldChange;
	/** Whether texts among its values are quoted. */
	isQuoted: boolean;
}

/** How texts among the values of each type are shown: quoted, unless they are numbers or times. */
const displays: Record<ValueType, 'quoted' | 'plain' | 'localTime'> = {
	text: 'quoted', varied: 'quoted', boolean: 'quoted', number: 'plain', day: 'plain', instant: 'localTime',
};

/** What values change in a record; without a record, all values. */
async function shownChanges(call: ToolkitCall, fields: Field[], values: IDataObject, record?: IDataObject): Promise<ShownChange[]> {
	const changes = record ? new RecordComparison(fields).difference(record, values).changes : leavesOf(values, '');
	if (changes.length === 0) return [];
	const oldValues = Object.fromEntries(Object.keys(values).map((name) => [name, record?.[name] ?? null])) as IDataObject;
	const [old, next] = await forModel(call.api, fields, [oldValues, values]);
	const zone = call.n8n.getTimezone();
	return changes.map((change) => {
		const name = change.field;
		const field = fields.find((other) => other.name === name);
		const display = displays[valueType(field ?? { kind: 'any' })];
		const [from, to] = [old, next].map((named) => {
			const value = memberAtPath(named, name.split('.'));
			return display === 'localTime' ? momentIn(value, zone) : value;
		});
		const label = unmistakable(field?.label ?? labelFor(customKeyOf(name) ?? name));
		return { label, to, ...(record && { from }), change, isQuoted: display === 'quoted' };
	});
}

/** The values in an object that are not objects themselves. */
const leavesOf = (values: IDataObject, prefix: string): FieldChange[] =>
	Object.entries(values).flatMap(([name, to]) =>
		(isPlainObject(to) ? leavesOf(to as IDataObject, `${prefix}${name}.`) : [{ field: prefix + name, from: null, to }]));

/** @param maxLength of a new value */
const changesText = (changes: ShownChange[], maxLength: number): string => changes.map((change) => changeText(change, maxLength)).join('; ');

function changeText(shown: ShownChange, maxLength: number): string {
	const { label, to, change, isQuoted } = shown;
	if (!('from' in shown)) return `${label}: ${displayText(to, maxLength, isQuoted)}`;
	const [left, right] = differences(shown.from, to);
	const [a, b] = [displayText(left, maxTextLength, isQuoted), displayText(right, maxLength, isQuoted)];
	// Two records may have the same name, and two numbers may look alike.
	return a === b ? `${label}: ${a} (${withoutQuotes(change.from)}) → ${b} (${withoutQuotes(change.to)})` : `${label}: ${a} → ${b}`;
}

/** A label that could be read as a change is quoted like a text. */
const unmistakable = (label: string): string => (/[“”→;:]/.test(label) ? quoted(label) : label);

const withoutQuotes = (value: unknown): string => JSON.stringify(value ?? null).replace(/^"|"$/g, '');

/** Where two long texts differ, with some context. */
function differences(from: unknown, to: unknown): [unknown, unknown] {
	if (typeof from !== 'string' || typeof to !== 'string' || Math.max(from.length, to.length) <= maxTextLength) return [from, to];
	const shorterLength = Math.min(from.length, to.length);
	let start = 0;
	while (start < shorterLength && from[start] === to[start]) start++;
	let end = 0;
	while (end < shorterLength - start && from.at(-1 - end) === to.at(-1 - end)) end++;
	const [left, right] = [Math.max(0, start - contextLength), Math.max(0, end - contextLength)];
	const excerpt = (text: string) => `${left > 0 ? '…' : ''}${text.slice(left, text.length - right)}${right > 0 ? '…' : ''}`;
	return [excerpt(from), excerpt(to)];
}

function displayText(value: unknown, maxLength: number, isQuoted: boolean): string {
	if (isBlank(value)) return '(empty)';
	if (typeof value === 'number') return value.toLocaleString('en', { maximumFractionDigits: 20 });
	const text = typeof value === 'string' ? value : JSON.stringify(value);
	const beginning = text.slice(0, maxLength);
	const shown = isQuoted && typeof value === 'string' ? quoted(beginning) : beginning;
	return text.length > maxLength ? `${shown}… (${text.length} characters)` : shown;
}
