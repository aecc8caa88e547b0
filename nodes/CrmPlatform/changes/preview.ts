import type { IDataObject } from 'n8n-workflow';

import { mergePatch, recordName } from '../api/record';
import type { Collection } from '../api/http/path';
import type { Connection } from '../api/connection';
import type { WriteDescription } from '../api/openapi/writing';
import { customFilters, readCustomFieldsIfAllowed } from '../api/customFields';
import { isLink } from '../api/openapi/linkFields';
import { parseJson } from '../base/json';
import { memberAtPath, withMemberAtPath } from '../base/ownMembers';
import { whyRefused } from '../fields/checks';
import { allCustomFields, isRequiredInForm, labelFor, type Field } from '../fields/field';
import { matchKey, valueIn } from '../fields/keys';
import { recordsById } from '../lookUp/byId';
import { foundIn, lookUp, maxIds, type LookedUp } from '../lookUp/lookUp';
import type { IdentifiedRecord } from '../lookUp/recordList';
import { SkippedItem, type NodeRun, type Work, type Write, type Writes } from '../model';
import { writableFieldsIn } from '../reading/exportColumns';
import { idReplacer } from '../lookUp/idReplacer';
import { isBlank } from '../values/blank';
import { RecordComparison, type Change } from './merge';
import { reportedRecord, type ReportedChange } from './plan';

/**
 * Shows the writes of a run in place of sending them: reads the current records, a slice of items at a time, and says what
 * would change, and what would be refused as far as that is known.
 */
export function previewOf(run: NodeRun, writes: Writes): Work {
	const { description } = writes;
	const left = new Map(writes.items.entries());
	// An ID whose name cannot be read is shown as it is.
	const quiet: Connection = { ...run.api, notices: new Set() };
	const counts = new Map<string, number>();
	const created: CreatedRecords = new Map();
	return {
		size: maxIds,
		atOnce: 1,
		async handle(items) {
			const names = new Set(['id', ...((await run.api.describe(run.resource.path))?.summary ?? [])]);
			const taken = items.map((item) => left.get(item)!);
			for (const item of items) left.delete(item);
			const valid = taken.flatMap((write) => (write instanceof Error ? [] : [write]));
			const previews = new Map<Write, ReportedChange>();
			for (const collection of new Set(valid.map((write) => write.collection))) {
				const ofCollection = valid.filter((write) => write.collection === collection);
				const records = await readConcerned(run, description, { collection, writes: ofCollection, created });
				const unnamed = ofCollection.map((write) => previewedChange(run, description, write, records));
				const changes = await namedChanges(quiet, records.fields, unnamed);
				for (const [i, write] of ofCollection.entries()) previews.set(write, changes[i]!);
			}
			const { notices } = run.api;
			notices.delete(countNotice(counts));
			const results = taken.map((write) => {
				if (write instanceof SkippedItem) return write;
				const change = write instanceof Error ? { action: 'refused', changes: [], reason: write.message } : previews.get(write)!;
				counts.set(change.action, (counts.get(change.action) ?? 0) + 1);
				return reportedRecord(change, names, 'preview');
			});
			if (counts.size > 0) notices.add(countNotice(counts));
			return results;
		},
	};
}

const countNotice = (counts: ReadonlyMap<string, number>): string =>
	`Preview: nothing was written. Turn off Preview to write these: ${[...counts].map(([action, times]) => `${times} × ${action}`).join(', ')}.`;

/** The records that earlier items would create, by collection, unique field and value (`placeOf`). */
type CreatedRecords = Map<string, IdentifiedRecord>;

/** The records of a collection that the writes of a slice concern. */
interface ConcernedRecords {
	collection: Collection;
	fields: Field[];
	compare: RecordComparison;
	/** The fields that no record can be without. */
	required: Field[];
	/** The fields of which no two records have the same value, and those by which records are matched. */
	unique: Field[];
	/** The records by id, as earlier items of the slice would leave them. */
	byId: Map<string, IDataObject>;
	/** The records in the CRM that have a value of a unique field, by its name. */
	lookUps: ReadonlyMap<string, LookedUp>;
	created: CreatedRecords;
}

async function readConcerned(
	{ api, resource }: NodeRun,
	description: WriteDescription,
	{ collection, writes, created }: { collection: Collection; writes: Write[]; created: CreatedRecords },
): Promise<ConcernedRecords> {
	const described = await api.describe(resource.path);
	const writesCustom = writes.some(({ body = {} }) => Object.hasOwn(body, allCustomFields));
	const custom = writesCustom ? await readCustomFieldsIfAllowed(api, collection) : undefined;
	const fields = described ? writableFieldsIn(described, custom) : description.fields;
	const { list } = described ?? {};
	const read = { api, path: collection, fields: described?.fields.map(({ name }) => name) ?? [] };
	const byId = await recordsById(api, { ...read, list }, [...new Set(writes.flatMap(({ id }) => id ?? []))]);
	const matched = new Set([...(described?.upsert?.match?.values ?? []), ...writes.map((write) => matchedName(description, write))]);
	const unique = fields.filter((field) => field.unique || matched.has(field.name));
	const lookUps = new Map<string, LookedUp>();
	for (const field of list ? unique : []) {
		const values = writes.flatMap(({ body = {} }) => valueIn(body, field) ?? []);
		if (values.length === 0) continue;
		const filters = [...list!.filters, ...customFilters(list!, custom?.fields ?? [])];
		lookUps.set(field.name, await lookUp({ ...read, list: list!, filters }, field, values));
	}
	const required = described?.create?.fields.filter((field) => field.required) ?? [];
	return { collection, fields, compare: new RecordComparison(fields), required, unique, byId, lookUps, created };
}

/** Where a record that an item would create is found by a value; undefined if it is not. */
function holderKey({ collection }: ConcernedRecords, field: Field, value: unknown): string | undefined {
	const key = matchKey(field, value);
	return key === undefined ? undefined : `${collection} ${field.name} ${key}`;
}

/** The records that have a value of a unique field; undefined if that is not known. */
function holdersIn(records: ConcernedRecords, field: Field, value: unknown): readonly IdentifiedRecord[] | undefined {
	const created = records.created.get(holderKey(records, field, value) ?? '');
	if (created) return [created];
	const result = records.lookUps.get(field.name)?.(value);
	return !result || 'failed' in result || 'refused' in result ? undefined : foundIn(result);
}

/** Adds a record that a write would create, so that later items with its values find it. */
function addCreated(records: ConcernedRecords, record: IDataObject): void {
	const added = { ...record, id: `${newIdPrefix}${records.created.size}` };
	for (const field of records.unique) {
		const key = holderKey(records, field, valueIn(record, field));
		if (key !== undefined) records.created.set(key, added);
	}
}

/** Begins the ID of a record that an earlier item would create. */
const newIdPrefix = 'new ';

/** The field by which the service finds the record of an upsert. */
const matchedName = ({ match }: WriteDescription, { query }: Write): string | undefined =>
	match && query?.[match.name] !== undefined ? String(query[match.name]) : undefined;

/** What a write would do. Later items find its record as it would leave it. */
function previewedChange({ operation }: NodeRun, description: WriteDescription, write: Write, records: ConcernedRecords): ReportedChange {
	const values = parseJson(JSON.stringify(write.body ?? {})) as IDataObject;
	const match = write.mayExist && records.fields.find(({ name }) => name === matchedName(description, write));
	const holders = match && holdersIn(records, match, valueIn(values, match));
	const isUnknown = write.mayExist === true && !holders;
	const id = write.id ?? holders?.[0]?.id;
	const record = id === undefined ? undefined : records.byId.get(id) ?? holders?.find((holder) => holder.id === id);
	const { changes, patch } = records.compare.difference(record ?? {}, { ...values, ...(record && write.sets?.(record)) });
	const shown = { ...(record && !id?.startsWith(newIdPrefix) ? { record } : { values }), changes };
	const refuse = (reason: string): ReportedChange => ({ action: 'refused', ...shown, reason });
	if (id !== undefined && !record) return refuse('There is no record with this ID, or the credential cannot read it.');
	if (holders && holders.length > 1) return refuse('Several records have the value to match on.');
	for (const change of changes) {
		const refusal = whyValueRefused(change, id, records);
		if (refusal !== undefined) return refuse(refusal);
	}
	const reason = id === undefined && !isUnknown ? whyIncomplete([...description.fields, ...records.required], values) : undefined;
	if (reason !== undefined) return refuse(reason);
	if (isUnknown) return { action: 'create or update', ...shown, reason: 'It is not known whether the record exists.' };
	if (!record) {
		addCreated(records, values);
		return { action: 'create', ...shown };
	}
	if (description.method === 'DELETE' && operation.option.value === 'delete') return { action: 'delete', ...shown };
	const isUpdate = description.method === 'PATCH' || description.replaces === true || write.mayExist === true;
	if (!isUpdate) return { action: String(operation.option.value), ...shown };
	if (changes.length === 0) return { action: 'unchanged', ...shown };
	records.byId.set(id!, mergePatch(record, patch));
	return { action: 'update', ...shown, patch };
}

/** @param id of the record that gets the value */
function whyValueRefused({ field: name, to }: Change, id: string | undefined, records: ConcernedRecords): string | undefined {
	const field = records.fields.find(({ path }) => path.join('.') === name);
	if (!field) return undefined;
	if (isBlank(to) && records.required.some((required) => required.name === name)) return whyIncomplete([{ ...field, required: true }], {});
	const refusal = whyRefused(field, to);
	if (refusal !== undefined || isBlank(to)) return refusal;
	const holder = holdersIn(records, field, to)?.find((other) => other.id !== id);
	if (!holder) return undefined;
	return holder.id.startsWith(newIdPrefix)
		? `${field.label}: an earlier item creates a record with the value “${String(to)}”.`
		: `${field.label}: ${recordName(holder) ?? 'Another record'} (${holder.id}) already has the value “${String(to)}”.`;
}

/** The changes with the labels of their fields, and the names of the records that they link to. */
async function namedChanges(api: Connection, fields: Field[], previews: ReportedChange[]): Promise<ReportedChange[]> {
	const fieldOf = ({ field: name }: Change) => fields.find((field) => field.path.join('.') === name);
	const links = previews.flatMap(({ changes }) => changes).filter((change) => {
		const field = fieldOf(change);
		return field !== undefined && isLink(field);
	});
	const rows = links.flatMap(({ field, from, to }) => [from, to].map((value) => withMemberAtPath({}, field.split('.'), value)));
	const named = await idReplacer(api, fields, 'names')(rows);
	const nameIn = ({ field }: Change, i: number, id: unknown) => {
		const name = memberAtPath(named[i], field.split('.'));
		return name === id ? undefined : name;
	};
	const namesOf = new Map(links.map((change, i) =>
		[change, { from_name: nameIn(change, 2 * i, change.from), to_name: nameIn(change, 2 * i + 1, change.to) }]));
	const withName = (change: Change): Change => ({ label: fieldOf(change)?.label ?? labelFor(change.field), ...change, ...namesOf.get(change) });
	return previews.map((preview) => ({ ...preview, changes: preview.changes.map(withName) }));
}

/** A sentence about the first required field without a value; undefined if all have one. */
export function whyIncomplete(fields: Field[], values: IDataObject): string | undefined {
	const empty = fields.find((field) => isRequiredInForm(field) && field.path.length === 1 && isBlank(valueIn(values, field)));
	return empty && `${empty.label} is empty. Enter a value.`;
}
