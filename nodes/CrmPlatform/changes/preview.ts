import type { IDataObject } from 'n8n-workflow';

import { mergePatch, recordName } from '../api/record';
import type { Collection } from '../api/http/path';
import type { Connection } from '../api/connection';
import type { WriteDescription } from '../api/openapi/writing';
import { allFilters, readCustomFieldsIfAllowed } from '../api/customFields';
import { isLink } from '../api/openapi/linkFields';
import { parseJson } from '../base/json';
import { getOrCreate, occurrences } from '../base/maps';
import { memberAtPath, withMemberAtPath } from '../base/ownMembers';
import { whyRefused } from '../fields/checks';
import { allCustomFields, isRequiredInForm, labelFor, type Field } from '../fields/field';
import { matchKey, valueIn } from '../fields/keys';
import { RecordComparison } from '../fields/recordComparison';
import { recordsById, foundIn, lookUp, maxIds, type LookedUp, type IdentifiedRecord } from '../lookUp/lookUp';
import { SkippedItem, type NodeRun, type Work, type Write, type Writes } from '../model';
import { writableFieldsIn } from '../reading/exportColumns';
import { replaceIds } from '../lookUp/replaceIds';
import { isBlank } from '../values/blank';
import { type FieldChange, reportedRecord, type ReportedChange } from './apply';

/** Shows what the writes of a run would change, and what would be refused as far as that is known, in place of sending them. */
export function previewOf(run: NodeRun, { writes, description }: Writes): Work {
	const untaken = new Map(writes.entries());
	const counts = new Map<string, number>();
	const timesOf = occurrences(writes.map(subjectOf));
	const isRepeated = (write: Write): boolean => timesOf.get(subjectOf(write))! > 1;
	const earlier = new Map<Collection, EarlierWrites>();
	const earlierIn = (collection: Collection) => getOrCreate(earlier, collection, () => ({ records: new Map(), created: new Map(), isRepeated }));
	return {
		size: maxIds,
		atOnce: 1,
		async handle(items) {
			const { notices } = run.api;
			const names = new Set(['id', ...((await run.api.describe(run.resource.path))?.summary ?? [])]);
			const slice = items.map((item) => untaken.get(item)!);
			for (const item of items) untaken.delete(item);
			const previews = await previewSlice(run, description, slice, earlierIn);
			notices.delete(countNotice(counts));
			const results = slice.map((write) => {
				if (write instanceof SkippedItem) return write;
				const preview = write instanceof Error ? { action: 'refused', changes: [], reason: write.message } : previews.get(write)!;
				counts.set(preview.action, (counts.get(preview.action) ?? 0) + 1);
				return reportedRecord(preview, names, 'preview');
			});
			if (counts.size > 0) notices.add(countNotice(counts));
			return results;
		},
	};
}

const countNotice = (counts: ReadonlyMap<string, number>): string =>
	`Preview: nothing was written. Turn off Preview to write these: ${[...counts].map(([action, times]) => `${times} × ${action}`).join(', ')}.`;

/** The record that a write changes, as far as that is known beforehand. */
const subjectOf = (write: Write | Error): string => (write instanceof Error ? '' : `${write.collection} ${write.id ?? write.orderKey ?? ''}`);

/** Stands for the id of a record that an earlier item would create. */
type NewRecord = { isNew: true };
type Holder = IdentifiedRecord | { id: NewRecord };

/** What the earlier items of a run would write to a collection. */
interface EarlierWrites {
	/** The records that further items change, by id, and new ones, as they would be: undefined if deleted. */
	records: Map<string | NewRecord, IDataObject | undefined>;
	/** The new ones, by the name of a unique field and the key of its value. */
	created: Map<string, Map<string, NewRecord>>;
	/** Whether other items change the record of a write: only such records are remembered, to save memory. */
	isRepeated: (write: Write) => boolean;
}

/** What the writes of a slice would do, other than those that are errors already. */
async function previewSlice(
	run: NodeRun, description: WriteDescription, slice: Array<Write | Error>, earlierIn: (collection: Collection) => EarlierWrites,
): Promise<Map<Write, ReportedChange>> {
	const previews = new Map<Write, ReportedChange>();
	// An ID whose name cannot be read is shown as it is.
	const quiet: Connection = { ...run.api, notices: new Set() };
	const valid = slice.flatMap((write) => (write instanceof Error ? [] : [write]));
	for (const collection of new Set(valid.map((write) => write.collection))) {
		const ofCollection = valid.filter((write) => write.collection === collection);
		const records = await readConcerned(run, description, collection, ofCollection, earlierIn(collection));
		const unnamed = ofCollection.map((write) => {
			const { id, preview } = previewWrite(run, write.description ?? description, write, records);
			remember(records, write, id, preview);
			return preview;
		});
		for (const [i, preview] of (await namedChanges(quiet, records.fields, unnamed)).entries()) previews.set(ofCollection[i]!, preview);
	}
	return previews;
}

/** The records of a collection that the writes of a slice concern. */
interface ConcernedRecords {
	fields: Field[];
	compare: RecordComparison;
	required: Field[];
	/** The fields of which no two records have the same value, and those by which records are matched. */
	unique: Field[];
	/** The records that the CRM has, by id. */
	current: ReadonlyMap<string, IDataObject>;
	/** Those that have a value of a unique field, by its name. */
	lookUps: ReadonlyMap<string, LookedUp>;
	earlier: EarlierWrites;
}

async function readConcerned(
	{ api, resource }: NodeRun, description: WriteDescription, collection: Collection, writes: Write[], earlier: EarlierWrites,
): Promise<ConcernedRecords> {
	const described = await api.describe(resource.path);
	const writesCustom = writes.some(({ body = {} }) => Object.hasOwn(body, allCustomFields));
	const custom = writesCustom ? await readCustomFieldsIfAllowed(api, collection) : undefined;
	const fields = described ? writableFieldsIn(described, custom) : description.fields;
	const { list } = described ?? {};
	const reading = { api, path: collection, fields: described?.fields.map(({ name }) => name) ?? [] };
	const current = await recordsById(api, { ...reading, list }, [...new Set(writes.flatMap(({ id }) => id ?? []))]);
	const matched = new Set([...(described?.upsert?.match?.values ?? []), ...writes.map((write) => matchedName(description, write))]);
	const unique = fields.filter((field) => field.unique || matched.has(field.name));
	const lookUps = new Map<string, LookedUp>();
	for (const field of list ? unique : []) {
		const values = writes.flatMap(({ body = {} }) => valueIn(body, field) ?? []);
		if (values.length === 0) continue;
		const filters = allFilters(list!, custom?.fields ?? []);
		lookUps.set(field.name, await lookUp({ ...reading, list: list!, filters }, field, values));
	}
	const required = described?.create?.fields.filter((field) => field.required) ?? [];
	return { fields, compare: new RecordComparison(fields), required, unique, current, lookUps, earlier };
}

/** The field by which the service finds the record of an upsert. */
const matchedName = ({ match }: WriteDescription, { query }: Write): string | undefined =>
	match && query?.[match.name] !== undefined ? String(query[match.name]) : undefined;

/** The records that have a value of a unique field; undefined if that is not known. */
function holdersIn({ lookUps, earlier }: ConcernedRecords, field: Field, value: unknown): readonly Holder[] | undefined {
	const created = earlier.created.get(field.name)?.get(matchKey(field, value) ?? '');
	if (created) return [{ id: created }];
	const result = lookUps.get(field.name)?.(value);
	return !result || 'failed' in result || 'refused' in result ? undefined : foundIn(result);
}

/** Has later items find the record of a write as it would leave it. @param id of the record, if it exists or an earlier item creates it */
function remember({ unique, earlier }: ConcernedRecords, write: Write, id: string | NewRecord | undefined, preview: ReportedChange): void {
	const { action, record, values, patch } = preview;
	if (action === 'create' && values) {
		const created: NewRecord = { isNew: true };
		earlier.records.set(created, values);
		for (const field of unique) {
			const key = matchKey(field, valueIn(values, field));
			if (key !== undefined) getOrCreate(earlier.created, field.name, () => new Map<string, NewRecord>()).set(key, created);
		}
	} else if (action === 'delete') earlier.records.set(id!, undefined);
	else if (action === 'update' && patch && earlier.isRepeated(write)) earlier.records.set(id!, mergePatch(earlier.records.get(id!) ?? record!, patch));
}

/** What a write would do to which record, if it exists or an earlier item creates it. */
function previewWrite(
	{ operation }: NodeRun, description: WriteDescription, write: Write, records: ConcernedRecords,
): { id: string | NewRecord | undefined; preview: ReportedChange } {
	const { compare, current, earlier } = records;
	const values = parseJson(JSON.stringify(write.body ?? {})) as IDataObject;
	const mayMatch = write.creates === 'ifNoneMatches';
	const match = mayMatch ? records.fields.find(({ name }) => name === matchedName(description, write)) : undefined;
	const holders = match && holdersIn(records, match, valueIn(values, match));
	const isUnknown = mayMatch && !holders;
	const id = write.id ?? holders?.[0]?.id;
	const stored = typeof id === 'string' ? current.get(id) ?? holders?.[0] : undefined;
	const record = id !== undefined && earlier.records.has(id) ? earlier.records.get(id) : stored;
	const { changes, patch } = compare.difference(record ?? {}, { ...values, ...(record && write.sets?.(record)) });
	const previewed = (action: string, more: Partial<ReportedChange> = {}) =>
		({ id, preview: { action, ...(record && typeof id === 'string' ? { record } : { values }), changes, ...more } });
	const refuse = (reason: string) => previewed('refused', { reason });
	if (id !== undefined && !record) {
		return refuse(earlier.records.has(id) ? 'An earlier item deletes the record.' : 'There is no record with this ID, or the credential cannot read it.');
	}
	if (holders && holders.length > 1) return refuse('Several records have the value to match on.');
	const refusal = changes.map((change) => whyValueRefused(change, id, records)).find(Boolean)
		?? (id === undefined && !isUnknown ? whyIncomplete([...description.fields, ...records.required], values) : undefined);
	if (refusal !== undefined) return refuse(refusal);
	if (isUnknown) return previewed('create or update', { reason: 'It is not known whether the record exists.' });
	if (!record) return previewed('create');
	const isUpdate = description.method === 'PATCH' || description.replaces === true || mayMatch;
	if (!isUpdate) return previewed(String(operation.option.value));
	return changes.length === 0 ? previewed('unchanged') : previewed('update', { patch });
}

/** @param id of the record that gets the value */
function whyValueRefused({ field: name, to }: FieldChange, id: string | NewRecord | undefined, records: ConcernedRecords): string | undefined {
	const field = records.fields.find(({ path }) => path.join('.') === name);
	if (!field) return undefined;
	if (isBlank(to) && records.required.some((required) => required.name === name)) return whyIncomplete([{ ...field, required: true }], {});
	const refusal = whyRefused(field, to);
	if (refusal !== undefined || isBlank(to)) return refusal;
	const holder = holdersIn(records, field, to)?.find((other) => other.id !== id);
	if (!holder) return undefined;
	return typeof holder.id === 'string'
		? `${field.label}: ${recordName(holder) ?? 'Another record'} (${holder.id}) already has the value “${String(to)}”.`
		: `${field.label}: an earlier item creates a record with the value “${String(to)}”.`;
}

/** The changes with the labels of their fields, and the names of the records that they link to. */
async function namedChanges(api: Connection, fields: Field[], previews: ReportedChange[]): Promise<ReportedChange[]> {
	const fieldOf = ({ field: name }: FieldChange) => fields.find((field) => field.path.join('.') === name);
	const linkNames = new Set(fields.filter(isLink).map(({ path }) => path.join('.')));
	const links = previews.flatMap(({ changes }) => changes).filter(({ field }) => linkNames.has(field));
	const rows = links.flatMap(({ field, from, to }) => [from, to].map((value) => withMemberAtPath({}, field.split('.'), value)));
	const named = await replaceIds(api, { fields, by: 'names' }, rows);
	const nameIn = ({ field }: FieldChange, i: number, id: unknown) => {
		const name = memberAtPath(named[i], field.split('.'));
		return name === id ? undefined : name;
	};
	const namesOf = new Map(links.map((change, i) =>
		[change, { from_name: nameIn(change, 2 * i, change.from), to_name: nameIn(change, 2 * i + 1, change.to) }]));
	const withName = (change: FieldChange) => ({ label: fieldOf(change)?.label ?? labelFor(change.field), ...change, ...namesOf.get(change) });
	return previews.map((preview) => ({ ...preview, changes: preview.changes.map(withName) }));
}

/** A sentence about the first required field without a value; undefined if all have one. */
export function whyIncomplete(fields: Field[], values: IDataObject): string | undefined {
	const empty = fields.find((field) => isRequiredInForm(field) && field.path.length === 1 && isBlank(valueIn(values, field)));
	return empty && `${empty.label} is empty. Enter a value.`;
}
