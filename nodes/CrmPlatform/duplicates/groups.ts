import type { IDataObject } from 'n8n-workflow';

import { originOf } from '../api/http/idempotency';
import { idText } from '../base/json';
import { maxBy } from '../base/lists';
import { getOrCreate } from '../base/maps';
import type { Field } from '../fields/field';
import { causeOf, causerNames, madeBy } from '../log/cause';
import { meaningOfTypes, type CrmEvent } from '../log/crmEvent';
import { eventName, fieldValue } from '../log/eventFields';
import { NoEventLog, openEventLog } from '../log/eventLog';
import { recordsById, type RecordList, type IdentifiedRecord } from '../lookUp/lookUp';
import { Evaluation } from '../mapping/expressions/evaluation';
import { storedParameter } from '../mapping/locator';
import type { Execution } from '../model';
import { isUnset, listIn } from '../values/blank';
import { groupIds, survivorId } from './duplicatesForm';

export type SurvivorRule = 'id' | 'complete' | 'newest' | 'oldest';

/** The duplicates of one input item. */
export interface DuplicateGroup {
	item: number;
	ids: string[];
	/** The record that stays; absent if the group cannot be merged. */
	survivor: IdentifiedRecord;
	/** The others, in order of precedence. */
	losers: IdentifiedRecord[];
	/** Those that an earlier merge of this workflow has deleted already. */
	deleted: IdentifiedRecord[];
	/** A sentence about each of these. */
	earlier: string;
}

/** A group that is left alone, with the reason. */
export interface RefusedGroup {
	item: number;
	ids: string[];
	refusal: string;
}

/**
 * Reads the groups of the input items.
 *
 * @param fields the fields that are merged
 * @throws NodeApiError if the service does not answer
 */
export async function readGroups(execution: Execution, collection: RecordList, rule: SurvivorRule, fields: Field[]): Promise<Array<DuplicateGroup | RefusedGroup>> {
	const { n8n, api, identity } = execution;
	const parameters = [groupIds, ...(rule === 'id' ? [survivorId] : [])].map(({ displayName, name }) => ({ label: displayName, value: storedParameter(n8n, name, '') }));
	const evaluation = new Evaluation(n8n, parameters);
	const chosenGroups = n8n.getInputData().map((_, item) => {
		const [ids, survivor] = evaluation.valuesOf(item);
		return { item, ids: [...new Set(listIn(ids).map((id) => idText(id)?.trim() ?? ''))], survivorId: idText(survivor)?.trim() };
	});
	const itemsOf = new Map<string, number[]>();
	for (const { item, ids } of chosenGroups) for (const id of ids) getOrCreate(itemsOf, id, () => []).push(item);

	const { list, path } = collection;
	const scope = list.deleted ? { [list.deleted.parameter]: true } : {};
	const records = await recordsById(api, collection, [...itemsOf.keys()].filter((id) => id !== ''), scope);
	const isDeleted = ({ [list.deleted?.field ?? '']: time }: IDataObject) => (time ?? null) !== null;
	const deletions = await deletionsOf(execution, path, new Set([...records.values()].filter(isDeleted).map(({ id }) => String(id))));
	const origin = originOf(identity.instance, identity.workflow);
	// A merge of this workflow that was interrupted goes on.
	const isByThisMerge = (event: CrmEvent | undefined) => event !== undefined && causeOf(event).origin?.purpose === 'merge' && madeBy(event, origin) === 'this_workflow';
	const names = [...new Set(fields.map(({ name }) => eventName(name)))];
	const filled = (record: IdentifiedRecord) => names.filter((name) => !isUnset(fieldValue(record, name))).length;
	// The oldest first, so that each run has the same order.
	const created = (record: IdentifiedRecord) => Date.parse(String(record[list.created?.field ?? 'created_at']));
	const inOrder = (some: IdentifiedRecord[]) => [...some].sort((a, b) => created(a) - created(b) || (a.id < b.id ? -1 : 1));
	const best = { id: undefined, oldest: () => 0, complete: filled, newest: changeTime(collection) }[rule];

	return chosenGroups.map(({ item, ids, survivorId: chosenId }): DuplicateGroup | RefusedGroup => {
		const refuse = (refusal: string): RefusedGroup => ({ item, ids, refusal });
		if (ids.includes('')) return refuse('Records: the item has a value that is no ID.');
		if (ids.length < 2) return refuse('Records: the group has fewer than two different IDs, so there is nothing to merge.');
		const shared = ids.find((id) => itemsOf.get(id)!.length > 1);
		if (shared !== undefined) return refuse(`${shared} is in several groups (items ${itemsOf.get(shared)!.slice(0, 5).join(', ')}). Put each record into one group.`);
		const absent = ids.find((id) => !records.has(id));
		if (absent !== undefined) return refuse(`There is no record ${absent}, or the credential cannot see it. Remove it from the group.`);
		const all = ids.map((id) => records.get(id) as IdentifiedRecord);
		const gone = all.find((record) => isDeleted(record) && !isByThisMerge(deletions.get(record.id)));
		if (gone) return refuse(`${howDeleted(gone, deletions.get(gone.id))} Remove it from the group, or undo its deletion.`);
		const living = inOrder(all.filter((record) => !isDeleted(record)));
		const survivor = best ? maxBy(living, best) : living.find(({ id }) => id === chosenId);
		if (!survivor) return refuse(rule === 'id' ? `Survivor ID: “${chosenId ?? ''}” is no existing record of the group.` : 'All records of the group are deleted.');
		return {
			item, ids, survivor,
			losers: living.filter((record) => record !== survivor),
			deleted: inOrder(all.filter(isDeleted)),
			earlier: all.filter(isDeleted).map((record) => howDeleted(record, deletions.get(record.id))).join(' '),
		};
	});
}

/** When a record was last changed, in milliseconds. */
export const changeTime = ({ list }: RecordList) => (record: IDataObject): number => Date.parse(String(record[list.changed?.field ?? 'updated_at']));

/** The deletions of these records, as far as the log has them. */
async function deletionsOf({ api }: Execution, path: string, ids: Set<string>): Promise<ReadonlyMap<string, CrmEvent>> {
	const found = new Map<string, CrmEvent>();
	if (ids.size === 0) return found;
	const log = await openEventLog(api).catch((error: unknown) => {
		if (error instanceof NoEventLog) return undefined;
		throw error;
	});
	const catalog = await api.describeEvents();
	const meaningOf = meaningOfTypes(catalog);
	const isDeletion = (type: string) => meaningOf(type)?.change === 'deleted' && meaningOf(type)!.collection === path;
	const types = catalog.types.flatMap(({ type }) => (isDeletion(type) ? [type] : []));
	for await (const event of log?.newestFirst(types) ?? []) {
		const id = String(event.data.object.id);
		if (isDeletion(event.type) && ids.delete(id)) found.set(id, event);
		if (ids.size === 0) break;
	}
	return found;
}

function howDeleted({ id }: IdentifiedRecord, event: CrmEvent | undefined): string {
	if (!event) return `${id} was deleted before the log of the CRM begins.`;
	const { origin, actor } = causeOf(event);
	const who = origin ? `${origin.execution === undefined ? '' : `execution ${origin.execution} of `}workflow ${origin.workflow}` : actor === undefined ? 'an unknown user' : `${causerNames.actor} ${actor}`;
	return `${id} was ${origin?.purpose === 'merge' ? 'merged into another record' : 'deleted'} by ${who} at ${event.timestamp}.`;
}
