import type { IDataObject } from 'n8n-workflow';

import { mergePatch, recordName } from '../api/record';
import type { Collection } from '../api/http/path';
import type { Connection } from '../api/connection';
import { customFilters, readCustomFieldsIfAllowed } from '../api/customFields';
import { isLink } from '../api/openapi/linkFields';
import { parseJson } from '../base/json';
import { memberAtPath, withMemberAtPath } from '../base/ownMembers';
import { whyRefused } from '../fields/checks';
import { allCustomFields, isRequiredInForm, labelFor, type Field } from '../fields/field';
import { matchKey, valueIn } from '../fields/keys';
import { foundIn, lookUp, maxIds, recordsById, type IdentifiedRecord, type LookedUp } from '../lookUp/lookUp';
import { SkippedItem, type Execution, type Work, type Write, type Writes } from '../model';
import { writtenFields } from '../reading/exportColumns';
import { idReplacer } from '../lookUp/idReplacer';
import { isBlank } from '../values/blank';
import { takeWrite } from '../writing/batches';
import { comparison, type Change } from './merge';
import { reportedRecord, type ReportedChange } from './plan';

/**
 * Shows the writes of a run in place of sending them: reads the current records, a slice of items at a time, and says what
 * would change, and what would be refused as far as that is known.
 */
export function previewOf(execution: Execution, writes: Writes): Work {
	const { notices } = execution.api;
	// An ID whose name cannot be read is shown as it is.
	const quiet: Connection = { ...execution.api, notices: new Set() };
	const counts = new Map<string, number>();
	const created: CreatedRecords = new Map();
	let notice = '';
	const count = (action: string) => {
		counts.set(action, (counts.get(action) ?? 0) + 1);
		notices.delete(notice);
		const counted = [...counts].map(([name, times]) => `${times} × ${name}`).join(', ');
		notice = `Preview: nothing was written. Turn off Preview to write these: ${counted}.`;
		notices.add(notice);
	};
	return {
		size: maxIds,
		atOnce: 1,
		async run(items) {
			const names = new Set(['id', ...((await execution.api.describe(execution.resource.path))?.summary ?? [])]);
			const read = items.map((item) => takeWrite(writes, item));
			const valid = read.flatMap((write) => (write instanceof Error ? [] : [write]));
			const previews = new Map<Write, ReportedChange>();
			for (const path of new Set(valid.map(({ collection }) => collection))) {
				const group = valid.filter(({ collection }) => collection === path);
				const current = await readCurrent(execution, writes, created, path, group);
				const reported = await namedChanges(quiet, current.fields, group.map((write) => previewWrite(execution, writes, write, current)));
				for (const [i, write] of group.entries()) previews.set(write, reported[i]!);
			}
			return read.map((write) => {
				if (write instanceof SkippedItem) return write;
				const preview = write instanceof Error ? { action: 'refused', changes: [], reason: write.message } : previews.get(write)!;
				count(preview.action);
				return reportedRecord(preview, names, 'preview');
			});
		},
	};
}

/** The records that earlier items would create, by collection, unique field and value. */
type CreatedRecords = Map<string, IdentifiedRecord>;

/** The records of a collection that the writes of a slice concern. */
interface RecordsOfSlice {
	fields: Field[];
	/** The fields that no record can be without. */
	required: Field[];
	/** The records by id, as earlier items would leave them. */
	byId: Map<string, IDataObject>;
	/** Adds a record that a write would create, so that later items with its values find it. */
	addCreated(record: IDataObject): void;
	/** The records that have a value of a unique field. */
	holdersOf(field: Field, value: unknown): readonly IdentifiedRecord[] | undefined;
}

async function readCurrent(
	{ api, resource }: Execution,
	{ description }: Writes,
	created: CreatedRecords,
	path: Collection,
	group: Write[],
): Promise<RecordsOfSlice> {
	const described = await api.describe(resource.path);
	const custom = group.some(({ body = {} }) => Object.hasOwn(body, allCustomFields)) ? await readCustomFieldsIfAllowed(api, path) : undefined;
	const fields = described ? writtenFields(described, custom) : description.fields;
	const names = described?.fields.map(({ name }) => name) ?? [];
	const { list } = described ?? {};
	const ids = [...new Set(group.flatMap(({ id }) => id ?? []))];
	const byId = await recordsById(api, { path, list, fields: names }, ids);
	const uniqueNames = new Set([...(described?.upsert?.match?.values ?? []), ...group.map((write) => matchedName(description, write))]);
	const uniqueFields = fields.filter(({ name, unique }) => unique || uniqueNames.has(name));
	const placeOf = (field: Field, value: unknown) => {
		const key = matchKey(field, value);
		return key === undefined ? undefined : `${path} ${field.name} ${key}`;
	};
	const lookUps = new Map<string, LookedUp>();
	for (const field of uniqueFields) {
		const values = group.flatMap(({ body = {} }) => valueIn(body, field) ?? []);
		if (!list || values.length === 0) continue;
		const filters = [...list.filters, ...customFilters(list, custom?.fields ?? [])];
		lookUps.set(field.name, await lookUp({ api, path, list, filters, fields: names }, field, values));
	}
	return {
		fields,
		required: described?.create?.fields.filter(({ required }) => required) ?? [],
		byId,
		addCreated(record) {
			const added = { ...record, id: `${newId}${created.size}` };
			for (const field of uniqueFields) {
				const place = placeOf(field, valueIn(record, field));
				if (place !== undefined) created.set(place, added);
			}
		},
		holdersOf(field, value) {
			const earlier = created.get(placeOf(field, value) ?? '');
			if (earlier) return [earlier];
			const outcome = lookUps.get(field.name)?.(value);
			return !outcome || 'failed' in outcome || 'refused' in outcome ? undefined : foundIn(outcome);
		},
	};
}

/** Begins the ID of a record that an earlier item would create. */
const newId = 'new ';

/** The field by which the service finds the record of an upsert. */
const matchedName = ({ match }: Writes['description'], { query }: Write): string | undefined =>
	match && query?.[match.name] !== undefined ? String(query[match.name]) : undefined;

function previewWrite({ operation }: Execution, { description }: Writes, write: Write, current: RecordsOfSlice): ReportedChange {
	const { fields, byId } = current;
	const values = parseJson(JSON.stringify(write.body ?? {})) as IDataObject;
	const match = write.mayExist && fields.find(({ name }) => name === matchedName(description, write));
	const holders = match ? current.holdersOf(match, valueIn(values, match)) : [];
	for (const holder of holders ?? []) if (!byId.has(holder.id)) byId.set(holder.id, holder);
	const isUnknown = write.mayExist === true && (!match || !holders);
	const id = write.id ?? holders?.[0]?.id;
	const record = id === undefined ? undefined : byId.get(id);
	const { changes, patch } = comparison(fields).difference(record ?? {}, { ...values, ...(record && write.sets?.(record)) });
	const preview = { ...(record && !id?.startsWith(newId) ? { record } : { values }), changes };
	const refusal = refusedBecause(write, holders?.length ?? 0, record, changes, current)
		?? (id === undefined && !isUnknown ? missingValue([...description.fields, ...current.required], values) : undefined);
	if (refusal !== undefined) return { action: 'refused', ...preview, reason: refusal };
	if (isUnknown) return { action: 'create or update', ...preview, reason: 'It is not known whether the record exists.' };
	if (!record) {
		current.addCreated(values);
		return { action: 'create', ...preview };
	}
	if (description.method === 'DELETE' && operation.option.value === 'delete') return { action: 'delete', ...preview };
	const isUpdate = description.method === 'PATCH' || description.replaces === true || write.mayExist === true;
	if (!isUpdate) return { action: String(operation.option.value), ...preview };
	if (changes.length === 0) return { action: 'unchanged', ...preview };
	byId.set(id!, mergePatch(record, patch));
	return { action: 'update', ...preview, patch };
}

/** Why the service would refuse a write, as far as its description and its records say. */
function refusedBecause({ id }: Write, matches: number, record: IDataObject | undefined, changes: Change[], { fields, required, holdersOf }: RecordsOfSlice): string | undefined {
	if (id !== undefined && !record) return 'There is no record with this ID, or the credential cannot read it.';
	if (matches > 1) return 'Several records have the value to match on.';
	for (const { field: name, to } of changes) {
		const field = fields.find(({ path }) => path.join('.') === name);
		const isCleared = isBlank(to) && required.some(({ name: needed }) => needed === name);
		const refusal = field && (isCleared ? missingValue([{ ...field, required: true }], {}) : whyRefused(field, to));
		if (refusal !== undefined) return refusal;
		const holder = field && !isBlank(to) ? holdersOf(field, to)?.find((other) => other.id !== record?.id) : undefined;
		if (holder?.id.startsWith(newId)) return `${field!.label}: an earlier item creates a record with the value “${String(to)}”.`;
		if (holder) return `${field!.label}: ${recordName(holder) ?? 'Another record'} (${holder.id}) already has the value “${String(to)}”.`;
	}
	return undefined;
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
export function missingValue(fields: Field[], values: IDataObject): string | undefined {
	const missing = fields.find((field) => isRequiredInForm(field) && field.path.length === 1 && isBlank(valueIn(values, field)));
	return missing && `${missing.label} is empty. Enter a value.`;
}
