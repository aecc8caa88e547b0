import type { IDataObject } from 'n8n-workflow';

import { orThrow, resultOrError } from '../base/results';
import { isObject, parsedValue } from '../base/json';
import { withoutMembers } from '../base/ownMembers';
import { isBlank } from '../values/blank';
import { timeSpan, type TimeSpan } from '../values/dates';
import { nodeFailure, withLines } from '../failure';
import { bodiesOfItems } from '../mapping/itemValues';
import type { NodeRun } from '../model';
import { idField } from '../fields/field';
import { matchKey, valueIn, type ComparedField } from '../fields/keys';
import type { SyncSettings } from './settings';

/** A record of the other system. */
export interface SourceRecord {
	item: number;
	/** The mapped values, as the service accepts them. */
	values: IDataObject;
	/** The record's key for each field to match on; undefined if the field has no value. */
	keys: Array<string | undefined>;
	/** The id of the CRM's record, if records are matched on it. */
	id?: string | undefined;
	/** The version of the CRM's record that the other system saw last. */
	seenVersion?: string | undefined;
	/** The values that both systems agreed on last, by field. */
	agreed?: IDataObject | undefined;
	changedAt?: TimeSpan | undefined;
}

/** The key of a record of either system for each field to match on. */
export const matchKeysOf = (values: IDataObject, match: readonly ComparedField[]): Array<string | undefined> =>
	match.map((field) => matchKey(field, valueIn(values, field)));

/** An item whose record could not be read or written. */
export interface SyncFailure {
	/** Undefined for a record that no item has. */
	item: number | undefined;
	error: Error;
}

interface Source {
	records: SourceRecord[];
	failures: SyncFailure[];
}

/**
 * For an empty source, n8n passes one item without values (Always Output Data), which is not a record.
 *
 * @throws Error in the user's words if no item has one of the named fields, while some have another; for the first item that
 * cannot be read, unless the node is set to continue on fail or this is a preview
 */
export async function readSource(run: NodeRun, settings: SyncSettings): Promise<Source> {
	const { mapping, itemFields, isPreview } = settings;
	const { n8n, api } = run;
	const source: Source = { records: [], failures: [] };
	const items = n8n.getInputData();
	if (items.every(({ json }) => Object.keys(json).length === 0)) return source;
	const named = [['Version Field', itemFields.version], ['Agreed Values Field', itemFields.agreed], ['Changed At Field', itemFields.changedAt]] as const;
	const absent = named.filter(([, name]) => name !== '' && !items.some(({ json }) => Object.hasOwn(json, name)));
	for (const [label, name] of absent) {
		// An item with one of these fields comes from the same source as the others; without a time, nothing is overwritten.
		if (label !== 'Changed At Field' && absent.length < named.filter(([, fieldName]) => fieldName !== '').length) {
			throw new Error(`${noSuchField(label, name)} Nothing was written.`);
		}
		api.notices.add(noSuchField(label, name));
	}
	const bodies = await bodiesOfItems(run, { ...mapping, whenCleared: 'clear', otherNames: Object.values(itemFields) });
	const zone = n8n.getTimezone();
	for (const [item, { json }] of items.entries()) {
		const record = resultOrError(() => readSourceRecord(item, orThrow(bodies[item]!), json, settings, zone));
		if (record instanceof Error) source.failures.push({ item, error: record });
		else source.records.push(record);
	}
	if (source.failures.length > 0 && !n8n.continueOnFail()) reportUnread(run, source, isPreview);
	return source;
}

/** @throws the first failure, except in a preview */
function reportUnread({ n8n, api }: NodeRun, { failures }: Source, isPreview: boolean): void {
	const [first] = failures as [SyncFailure];
	const count = `${failures.length} of ${n8n.getInputData().length} items could not be read`;
	if (!isPreview) {
		const lines = failures.length > 1 ? [`${count}: run with Preview on to see all of them on the output Conflict.`] : [];
		throw withLines(nodeFailure(n8n, first.error, first.item), ['Nothing was written.', ...lines, ...api.notices]);
	}
	api.notices.add(`${count}. They are on the output Conflict, each with its reason. Correct them, or set On Error to Continue; otherwise a run stops before it writes anything.`);
}

function readSourceRecord(item: number, mapped: IDataObject, json: IDataObject, { match, itemFields }: SyncSettings, zone: string): SourceRecord {
	const { version, agreed, changedAt } = itemFields;
	const keys = matchKeysOf(mapped, match);
	if (keys.every((key) => key === undefined)) {
		const labels = match.map(({ label }) => `“${label}”`).join(' and ');
		throw new Error(`There is no value for ${labels}, the field to match on. Fill it in, or match on another field.`);
	}
	const byId = match.indexOf(idField);
	if (byId === -1 && !isBlank(mapped.id)) throw new Error(unusedId);
	const values = withoutMembers(mapped, 'id');

	const member = <Value>(name: string, parse: (value: unknown) => Value | undefined, expected: string): Value | undefined => {
		if (name === '' || isBlank(json[name])) return undefined;
		const parsed = parse(json[name]);
		if (parsed !== undefined) return parsed;
		throw new Error(`${name}: “${String(json[name]).trim().slice(0, 100)}” is not ${expected}, or leave it empty.`);
	};
	const agreedValues = member(agreed, objectIn, 'an object of values such as {"last_name": "King"}. Store the values that both agreed on there');
	const names = Object.keys(agreedValues ?? {});
	// Values under labels would say nothing.
	if (names.length > 0 && !names.some((name) => Object.hasOwn(mapped, name.split('.')[0]!))) {
		throw new Error(`${agreed}: none of “${names.join('”, “').slice(0, 100)}” is a field that this node writes. Use the fields’ names in the CRM, such as {"${Object.keys(mapped)[0] ?? 'last_name'}": …}.`);
	}
	return {
		item,
		values,
		keys,
		id: byId === -1 ? undefined : keys[byId],
		seenVersion: member(version, versionIn, 'a version such as 3. Store the record’s version there'),
		agreed: agreedValues,
		// The time decides what is overwritten.
		changedAt: member(changedAt, (value) => timeSpan(value, zone), 'a time such as 2026-03-31T14:30:00Z. Correct it'),
	};
}

/** A number from 2^53 on was rounded, perhaps to another version. */
const versionIn = (value: unknown): string | undefined =>
	(typeof value === 'number' && !Number.isSafeInteger(value) ? undefined : /^0*(\d+)$/.exec(String(value).trim())?.[1]);

function objectIn(value: unknown): IDataObject | undefined {
	const parsed = parsedValue(value);
	return isObject(parsed) ? parsed : undefined;
}

const noSuchField = (label: string, name: string) =>
	`${label}: no item has the field “${name}”, so it counts as empty. Correct the name, or store the field with each record of the source.`;

const unusedId =
	'Fields: ID is mapped, but records are not matched on it, and it is never written. Choose ID in Match On, or remove it from the fields.';
