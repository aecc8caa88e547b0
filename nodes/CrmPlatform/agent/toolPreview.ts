import type { IDataObject } from 'n8n-workflow';

import { findRecord } from '../api/fetchRecord';
import { path } from '../api/http/path';
import type { ApiRequest } from '../api/http/request';
import { isBlank } from '../values/blank';
import { parseMoment } from '../values/dates';
import { customKeyOf, labelFor } from '../fields/field';
import { fieldKinds } from '../fields/fieldKinds';
import { isPlainObject, memberAtPath, setAtPath } from '../base/ownMembers';
import { fieldsOfRecordType, forReading } from './toolFields';
import type { NamedRecord } from './toolRecords';
import { toolCollection, type OperationCall, type ToolRun } from './toolRun';
import type { RecordType } from './toolSettings';

/** A write that the model requests. */
export interface RequestedWrite extends OperationCall {
	/** The record that it changes, if there is one. */
	target?: NamedRecord;
	/** What the write does beyond the values, such as the tag that it adds. */
	detail?: string;
}

/** A write as it would be sent. */
export interface PlannedWrite extends RequestedWrite {
	request: ApiRequest;
	/** The values with names in place of ids: if a name now belongs to another id, the write differs. */
	readableValues: string;
}

/** Maximum characters of a text that no person has to approve. */
const maxShown = 200;

/** Number of equal characters shown around a difference. */
const around = 40;

/**
 * Describes a write in words: `Update deal Altamira (dea_…): Amount: 1,200 → 12,000`.
 *
 * @param isComplete whether to show all values in full, for a person to approve
 */
export async function describePlannedWrite(
	run: ToolRun,
	write: PlannedWrite,
	isComplete: boolean,
): Promise<string> {
	const { recordType, operation, request, target, detail } = write;
	const values = (request.body ?? {}) as IDataObject;
	const changes = await describeChanges(run, recordType, values, target?.record, isComplete ? Infinity : maxShown);
	// A person has to see the contents of whatever leaves the CRM.
	const content = isComplete && target && operation.action?.leavesTheCrm ? await describeRecordContent(run, recordType, target.record) : '';
	const details = [detail, changes, content].filter(Boolean).join('; ');
	return inOneLine(details === '' ? summaryOf(write) : `${summaryOf(write)}: ${details}`);
}

const summaryOf = ({ operation, recordType, target }: PlannedWrite): string =>
	`${operation.option.name} ${recordType.name}${target ? ` ${target.title}` : ''}`;

/** Shows what a text could hide from the person who approves it, or imitate: line breaks, and characters that nobody sees. */
const inOneLine = (text: string): string =>
	text
		.replace(/(?:\s*[\r\n\u2028\u2029]\s*)+/g, ' ⏎ ')
		.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Describes what is written, regardless of the record's current values. */
export const readableValuesOf = async (run: ToolRun, recordType: RecordType, body: IDataObject): Promise<string> =>
	await describeChanges(run, recordType, body, undefined, Infinity);

/** Describes all that people have entered in a record. */
async function describeRecordContent(run: ToolRun, recordType: RecordType, record: IDataObject): Promise<string> {
	const names = (await fieldsOfRecordType(run, recordType)).map(({ path: [name = ''] }) => name);
	const content: IDataObject = Object.fromEntries(Object.entries(record).filter(([name, value]) => names.includes(name) && !isBlank(value)));
	return await readableValuesOf(run, recordType, content);
}

/** Describes a write that the service had already carried out: the record may have changed since. */
export async function describeRepeatedWrite(run: ToolRun, write: PlannedWrite, id: string): Promise<string> {
	const { recordType, request } = write;
	const summary = `${summaryOf(write)}: already written, so it was not written again.`;
	const now = await findRecord(run.api, toolCollection(recordType) + path`/${id}`).catch(() => null);
	if (now === undefined) return `${summary} The record has been deleted since.`;
	if (now === null) return summary;
	const writtenValues = leavesOf((request.body ?? {}) as IDataObject);
	// An action has no values, so the fields that it may have changed are shown.
	const values = writtenValues.length > 0
		? writtenValues
		: fieldsSetByActions.filter((name) => name in now).map((name): [string[], unknown] => [[name], now[name]]);
	if (values.length === 0) return summary;
	const body = {};
	for (const [names] of values) setAtPath(body, names, memberAtPath(now, names) ?? null);
	return `${summary} Now: ${await describeChanges(run, recordType, body, undefined, maxShown)}`;
}

/** Whether the record has these values already. */
export function changesNothing({ request: { method, body = {} }, target }: PlannedWrite): boolean {
	if (method !== 'PATCH' || !target) return false;
	const isIn = (values: IDataObject, record: IDataObject): boolean =>
		Object.entries(values).every(([name, value]) => {
			const old = record[name];
			if (isPlainObject(value) && isPlainObject(old)) return isIn(value as IDataObject, old as IDataObject);
			return JSON.stringify(value) === JSON.stringify(old ?? null);
		});
	return isIn(body as IDataObject, target.record);
}

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
	const fieldAt = (path: string[]) => fields.find((field) => field.name === path.join('.'));
	const zone = run.n8n.getTimezone();
	const isInstantAt = (path: string[]) => fieldKinds[fieldAt(path)?.kind ?? 'any'].order === 'instant';
	const valueAt = (values: unknown, path: string[]) => {
		const value = memberAtPath(values, path);
		return isInstantAt(path) ? momentIn(zone, value) : value;
	};
	return leavesOf(body)
		.flatMap(([path, value]) => {
			const label = fieldAt(path)?.label ?? labelFor(customKeyOf(path.join('.')) ?? path.join('.'));
			const [from, to] = [valueAt(old, path), valueAt(next, path)];
			if (!record) return [`${label}: ${displayText(to, maxLength)}`];
			// Two records may have the same name, and two numbers may look alike, so the values as sent decide.
			const [rawFrom, rawTo] = [memberAtPath(before, path), value].map((rawValue) => JSON.stringify(rawValue ?? null));
			if (rawFrom === rawTo) return [];
			const [left, right] = differingParts(from, to);
			const [a, b] = [displayText(left, maxShown), displayText(right, maxLength)];
			return [a === b ? `${label}: ${a} (${bare(rawFrom!)}) → ${b} (${bare(rawTo!)})` : `${label}: ${a} → ${b}`];
		})
		.join('; ');
}

/** The values in an object that are not objects themselves, each with its path. */
const leavesOf = (values: IDataObject, before: string[] = []): Array<[string[], unknown]> =>
	Object.entries(values).flatMap(([name, value]) => {
		const path = [...before, name];
		return isPlainObject(value) ? leavesOf(value as IDataObject, path) : [[path, value] as [string[], unknown]];
	});

const fieldsSetByActions = ['status', 'stage_id', 'assignee_id', 'tag_ids'];

/** Formats an instant in the workflow's time zone: in UTC, it may be another day. */
function momentIn(zone: string, value: unknown): unknown {
	const moment = typeof value === 'string' ? parseMoment(value, 'utc')?.setZone(zone) : undefined;
	return !moment?.isValid || moment.offset === 0 ? value : `${moment.toFormat('yyyy-MM-dd HH:mm:ss')} (${zone})`;
}

const bare = (json: string): string => json.replace(/^"|"$/g, '');

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

function displayText(value: unknown, maxLength: number): string {
	if (isBlank(value)) return '(empty)';
	if (typeof value === 'number') return value.toLocaleString('en', { maximumFractionDigits: 20 });
	const text = typeof value === 'string' ? value : JSON.stringify(value);
	return text.length > maxLength ? `${text.slice(0, maxLength)}… (${text.length} characters)` : text;
}
