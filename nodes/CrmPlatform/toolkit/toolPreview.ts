import type { IDataObject } from 'n8n-workflow';

import { parseJson } from '../base/json';
import { isBlank } from '../values/blank';
import { parseMoment } from '../values/dates';
import { customKeyOf, labelFor, type Field } from '../fields/field';
import { fieldKinds } from '../fields/fieldKinds';
import { comparison, type Change } from '../changes/merge';
import type { Write } from '../model';
import { isPlainObject, memberAtPath } from '../base/ownMembers';
import { quoted } from '../toolCalls/toolAnswer';
import { fieldsOfRecordType, forReading } from './toolFields';
import type { PlannedWrite, ToolRun } from './toolRun';
import type { RecordType } from './toolSettings';

/** Maximum characters of a text that no person has to approve. */
const maxShown = 200;

/** Number of equal characters shown around a difference. */
const around = 40;

/**
 * Describes a write in words: `Update deal “Altamira” (dea_…): Title: “Altamira” → “Alta Mira”; Amount: 1,200 → 12,000`.
 * Texts are quoted, so that none of them can look like another change.
 *
 * @param isComplete whether to show all values in full, for a person to approve
 */
export async function describePlannedWrite(
	run: ToolRun,
	write: PlannedWrite,
	isComplete: boolean,
): Promise<string> {
	const { recordType, operation, target } = write;
	const changes = await describeChanges(run, recordType, wantedValues(write), target?.record, isComplete ? Infinity : maxShown);
	const isAction = isComplete && operation.action && target;
	// Only an update's values say all that it changes.
	const effect = isAction && !isUpdate(write) ? String(operation.option.description) : '';
	// A person has to see the contents of whatever leaves the CRM.
	const content = isAction && operation.action?.leavesTheCrm ? await describeRecordContent(run, recordType, target.record) : '';
	const details = [effect, changes, content].filter(Boolean).join('; ');
	return inOneLine(details === '' ? nameOfWrite(write) : `${nameOfWrite(write)}: ${details}`);
}

export const nameOfWrite = ({ operation, recordType, target }: PlannedWrite): string =>
	`${operation.option.name} ${recordType.name}${target ? ` ${target.title}` : ''}`;

/** Shows what a text could hide from the person who approves it, or imitate: line breaks, and characters that nobody sees. */
const inOneLine = (text: string): string =>
	text
		.replace(/(?:\s*[\r\n\u2028\u2029]\s*)+/g, ' ⏎ ')
		.replace(/(?![\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);

/** Describes all that people have entered in a record. */
async function describeRecordContent(run: ToolRun, recordType: RecordType, record: IDataObject): Promise<string> {
	const names = (await fieldsOfRecordType(run, recordType)).map(({ path: [name = ''] }) => name);
	const content: IDataObject = Object.fromEntries(Object.entries(record).filter(([name, value]) => names.includes(name) && !isBlank(value)));
	return await describeChanges(run, recordType, content, undefined, Infinity);
}

/** The values of a write, as in a record that was read. */
export const writtenBody = ({ body = {} }: Write): IDataObject => parseJson(JSON.stringify(body)) as IDataObject;

/** The values that the record has afterwards, as far as they are known. */
const wantedValues = ({ write, target }: PlannedWrite): IDataObject => ({ ...writtenBody(write), ...(target && write.sets?.(target.record)) });

/** Whether the values of the write say all that it changes. */
const isUpdate = ({ writes: { description } }: PlannedWrite): boolean => description.method === 'PATCH' || description.replaces === true;

/** Whether the record has these values already. */
export async function changesNothing(run: ToolRun, write: PlannedWrite): Promise<boolean> {
	const { recordType, target } = write;
	if (!target || !(isUpdate(write) || write.write.sets)) return false;
	return changesOf(await fieldsOfRecordType(run, recordType), wantedValues(write), target.record).length === 0;
}

/** What values change in a record; without a record, all values, since the record may have any. */
const changesOf = (fields: Field[], values: IDataObject, record?: IDataObject): Change[] =>
	(record ? comparison(fields).difference(record, values).changes : leavesOf(values, ''));

/** The values in an object that are not objects themselves. */
const leavesOf = (values: IDataObject, prefix: string): Change[] =>
	Object.entries(values).flatMap(([name, to]) =>
		(isPlainObject(to) ? leavesOf(to as IDataObject, `${prefix}${name}.`) : [{ field: prefix + name, from: null, to }]));

async function describeChanges(
	run: ToolRun,
	recordType: RecordType,
	body: IDataObject,
	record: IDataObject | undefined,
	maxLength: number,
): Promise<string> {
	const names = Object.keys(body);
	if (names.length === 0) return '';
	const fields = await fieldsOfRecordType(run, recordType);
	const before = Object.fromEntries(names.map((name) => [name, record?.[name] ?? null])) as IDataObject;
	const [old = {}, next = {}] = await forReading(run.api, fields, [before, body]);
	const zone = run.n8n.getTimezone();
	return changesOf(fields, body, record)
		.map(({ field: name, from: rawFrom, to: rawTo }) => {
			const field = fields.find((other) => other.name === name);
			const label = unmistakable(field?.label ?? labelFor(customKeyOf(name) ?? name));
			const { order } = fieldKinds[field?.kind ?? 'any'];
			const [from, to] = [old, next].map((values) => memberAtPath(values, name.split('.'))).map((value) => (order === 'instant' ? momentIn(zone, value) : value));
			const shown = (value: unknown, length: number) => displayText(value, length, order === undefined);
			if (!record) return `${label}: ${shown(to, maxLength)}`;
			const [left, right] = differingParts(from, to);
			const [a, b] = [shown(left, maxShown), shown(right, maxLength)];
			// Two records may have the same name, and two numbers may look alike.
			return a === b ? `${label}: ${a} (${bare(rawFrom)}) → ${b} (${bare(rawTo)})` : `${label}: ${a} → ${b}`;
		})
		.join('; ');
}

/** A label that could be read as a change is quoted like a text. */
const unmistakable = (label: string): string => (/[“”→;:]/.test(label) ? quoted(label) : label);

/** Formats an instant in the workflow's time zone: in UTC, it may be another day. */
function momentIn(zone: string, value: unknown): unknown {
	const moment = typeof value === 'string' ? parseMoment(value, 'utc')?.setZone(zone) : undefined;
	return !moment?.isValid || moment.offset === 0 ? value : `${moment.toFormat('yyyy-MM-dd HH:mm:ss')} (${zone})`;
}

const bare = (value: unknown): string => JSON.stringify(value ?? null).replace(/^"|"$/g, '');

/** Finds the parts in which two long texts differ, with some context. */
function differingParts(from: unknown, to: unknown): [unknown, unknown] {
	if (typeof from !== 'string' || typeof to !== 'string' || Math.max(from.length, to.length) <= maxShown) return [from, to];
	const shorterLength = Math.min(from.length, to.length);
	let start = 0;
	while (start < shorterLength && from[start] === to[start]) start++;
	let end = 0;
	while (end < shorterLength - start && from.at(-1 - end) === to.at(-1 - end)) end++;
	const [left, right] = [Math.max(0, start - around), Math.max(0, end - around)];
	const part = (text: string) => `${left > 0 ? '…' : ''}${text.slice(left, text.length - right)}${right > 0 ? '…' : ''}`;
	return [part(from), part(to)];
}

/** @param isText whether a text is quoted: the texts of numbers, days and times are not */
function displayText(value: unknown, maxLength: number, isText: boolean): string {
	if (isBlank(value)) return '(empty)';
	if (typeof value === 'number') return value.toLocaleString('en', { maximumFractionDigits: 20 });
	const text = typeof value === 'string' ? value : JSON.stringify(value);
	const beginning = text.slice(0, maxLength);
	const shown = isText && typeof value === 'string' ? quoted(beginning) : beginning;
	return text.length > maxLength ? `${shown}… (${text.length} characters)` : shown;
}
