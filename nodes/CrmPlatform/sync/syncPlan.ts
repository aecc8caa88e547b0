import { decideMatched } from './decideMatched';
import { isGone } from './deletedRecords';
import { duplicateKeys, matchesOf, ownersOf, type CrmIndex, type CrmRecord, type SourceRecord } from './crmIndex';
import { asConflict, type Context, type PlannedChange } from './plannedChange';
import { recordsPointedAt, type Pointer } from './presence';
import { listed } from '../values/listed';

/**
 * Decides about each record. Reads and writes nothing, so that a preview and a run decide alike.
 *
 * @param source the source records, in the order of the input items
 * @returns a decision for each source record, in their order; then for the records in scope that the source
 * does not have, unless they are left alone
 */
export function planChanges(source: SourceRecord[], crm: CrmIndex, context: Context): PlannedChange[] {
	const duplicates = duplicateKeys(source, context.matchLabels);
	// With one field to match on, records without a duplicate key cannot meet.
	const owners = context.matchLabels.length > 1 ? ownersOf(source, crm, duplicates) : undefined;

	const planned = source.map((record): PlannedChange => {
		const { item, values } = record;
		const conflict = (reason: string, found?: CrmRecord): PlannedChange => ({
			action: 'conflict',
			item,
			values,
			...(found && { record: found }),
			changes: found ? context.compare.difference(found, values).changes : [],
			reason,
		});
		const duplicate = duplicates.get(record);
		if (duplicate !== undefined) return conflict(duplicate);
		const { field, records } = matchesOf(record, crm);
		if (records.length > 1) return conflict(severalRecords(records.map(({ id }) => id)));
		const [match] = records;
		if (!match) return absentInCrm(record, context);
		const items = owners?.get(match.id) ?? [];
		if (items.length > 1) return conflict(matchedTwice(match.id, items), match);
		const outside = context.outside(match);
		if (outside !== undefined) return conflict(outside, match);
		// An earlier key of the record is not the item’s, so it is a different record; an unknown ID belongs to a deleted record.
		const crmKeys = context.keysOf(match);
		const otherField = crmKeys.slice(0, field).findIndex((key) => key !== undefined && key !== match.id);
		if (otherField !== -1) return conflict(hasOtherKey(match.id, crmKeys[otherField]!, context.matchLabels, field, otherField), match);
		return decideMatched(record, match, field, context);
	});
	if (context.rules.missingInSource === 'leave') return planned;

	// A record that matches any key of any item is in the source, whichever match is right.
	const present = new Set(
		source.flatMap(({ keys }) =>
			keys.flatMap((key, field) => (key === undefined ? [] : crm.find(field, key).map(({ id }) => id))),
		),
	);
	const missing = crm.records.filter(({ id }) => !present.has(id));
	const places = new Map(source.map(({ item }, place) => [item, place]));
	const pointers = recordsPointedAt(missing, source, context.unique, ({ item }) => !planned[places.get(item)!]!.record);
	for (const [id, { items, label }] of pointers) {
		for (const item of items) {
			const place = places.get(item)!;
			if (planned[place]!.action === 'create') planned[place] = asConflict(planned[place]!, mayBeRecord(id, label));
		}
	}
	for (const record of missing) planned.push(absentInSource(record, pointers.get(record.id), context));
	return planned;
}

function absentInCrm({ item, values, wasInCrm, id, keys }: SourceRecord, { rules, compare }: Context): PlannedChange {
	const { changes, patch } = compare.difference({}, values);
	const base = { item, values, changes };
	if (wasInCrm && rules.bothChanged !== 'source') {
		const isKept = rules.bothChanged === 'crm';
		return { ...base, action: isKept ? 'unchanged' : 'conflict', reason: deletedInCrm };
	}
	if (rules.missingInCrm === 'leave') return { ...base, action: 'unchanged', reason: notCreated };
	if (id === undefined) return { ...base, action: 'create', patch };
	const hasOtherKey = keys.filter((key) => key !== undefined).length > 1;
	if (!hasOtherKey) return { ...base, action: 'conflict', reason: notFoundAgain(id) };
	return { ...base, action: 'create', patch, seenId: id };
}

function absentInSource(record: CrmRecord, pointer: Pointer | undefined, context: Context): PlannedChange {
	const { rules, compare } = context;
	if (pointer) return { action: 'conflict', record, changes: [], reason: pointedTo(pointer) };
	if (context.keysOf(record).every((key) => key === undefined)) {
		return { action: 'unchanged', record, changes: [], reason: withoutKey(context.matchLabels) };
	}
	if (rules.missingInSource !== 'set') {
		if (isGone(record)) return { action: 'unchanged', record, changes: [], reason: goneAlready };
		return { action: 'delete', record, changes: [], reason: notInSource };
	}
	const { changes, patch } = compare.difference(record, rules.missingValues ?? {});
	const base = { record, changes, reason: notInSource };
	return changes.length === 0 ? { ...base, action: 'unchanged' } : { ...base, action: 'update', patch };
}

const deletedInCrm =
	'The source has seen this record, but the CRM no longer returns it: it was deleted, or is no longer in Records in Scope.';
const notCreated = 'The CRM does not have this record, and When Missing in the CRM is set to Leave It Out.';
const goneAlready = 'The source does not have this record, and the CRM has deleted or deactivated it already.';
const notInSource = 'The source does not have this record.';
const notFoundAgain = (id: string) =>
	`The CRM no longer has record ${id}. A new one would get another ID, which this item does not have, and the next run would create it again. Choose a second field in Then Match On.`;
const mayBeRecord = (id: string, label: string) =>
	`Record ${id} has this item’s ${label} but a different key, so it may be the same record. Correct the key.`;
const pointedTo = ({ items, label }: Pointer) =>
	`No item has this record’s key, but item ${items[0]} has its ${label}, so it may be that record. It was left unchanged. Correct the key.`;
const withoutKey = (labels: readonly string[]) =>
	`The record has no ${labels.join(' and no ')}, so no item can match it. It was left unchanged.`;
const severalRecords = (ids: string[]) =>
	`Several records of the CRM have this key: ${listed(ids)}. Merge or correct them.`;
const hasOtherKey = (id: string, key: string, labels: readonly string[], field: number, otherField: number) =>
	`Record ${id} has this item’s ${labels[field]}, but another ${labels[otherField]}: “${key.slice(0, 100)}”. It may be another record. Correct the key, or remove it from one of them.`;
const matchedTwice = (id: string, items: number[]) =>
	`Record ${id} belongs to several items (${listed(items)}). Only one of them may be this record.`;
