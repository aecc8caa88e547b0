import { originOf } from '../api/http/idempotency';
import type { Collection } from '../api/http/path';
import { ruleNumber } from '../api/http/rules';
import { hasSameValue } from '../base/json';
import { maxBy } from '../base/lists';
import { getOrCreate } from '../base/maps';
import { orThrow, resultOrError } from '../base/results';
import { customKeyOf } from '../fields/field';
import { causeOf, causerNames, madeBy, undoneDeletions } from '../log/cause';
import { eventTypesOf, type CrmEvent } from '../log/crmEvent';
import { hasEventLog, openEventLog } from '../log/eventLog';
import { fieldEntries, fieldValue } from '../log/eventFields';
import { recordsById, includingDeleted, isDeletedIn, type IdentifiedRecord } from '../lookUp/lookUp';
import { Evaluation } from '../mapping/expressions/evaluation';
import { storedParameter } from '../mapping/locator';
import type { NodeRun } from '../model';
import { hasOnlyBlanks, listIn } from '../values/blank';
import { parseId } from '../values/parsers';
import { groupIds, survivorId } from './duplicatesProperties';
import { mergedValues, oldestFirst, recordTime, type MergedType } from './mergedValues';
import { mergeRules } from './mergeRules';

export type SurvivorRule = 'id' | 'complete' | 'newest' | 'oldest';

/** The duplicates of one input item. */
export interface DuplicateGroup {
	ids: string[];
	survivor: IdentifiedRecord;
	/** The others, the oldest first. */
	losers: IdentifiedRecord[];
	/** Those that an earlier merge of this workflow has deleted already; of a merge on its way, then also those that it has. */
	deleted: IdentifiedRecord[];
	/** A sentence about each of these. */
	howDeleted: string;
}

export interface RefusedGroup {
	ids: string[];
	reason: string;
}

/**
 * Reads the groups of the input items.
 *
 * @throws NodeApiError if the service does not answer
 */
export async function readGroups(run: NodeRun, type: MergedType, rule: SurvivorRule): Promise<Array<DuplicateGroup | RefusedGroup>> {
	const { path, list } = type.recordList;
	const chosenGroups = readChosenGroups(run, rule);
	const itemsOf = new Map<string, number[]>();
	for (const [item, { ids }] of chosenGroups.entries()) for (const id of ids) getOrCreate(itemsOf, id, () => []).push(item);

	const records = await recordsById(run.api, type.recordList, [...itemsOf.keys()].filter((id) => id !== ''), includingDeleted(list));
	const deletions = await readDeletions(run, path, [...records.values()].filter((record) => isDeletedIn(list, record)));
	/** Without either, an interrupted merge can neither go on nor be undone. */
	const [listsDeleted, hasLog] = [list.deleted !== undefined, await hasEventLog(run.api)];
	const usesChangeTime = rule === 'newest' || type.merged.some(({ rule: fieldRule }) => mergeRules[fieldRule].needsTimes);
	/** By these, rules choose. */
	const decidingTimes = [...(usesChangeTime ? [recordTime(type.recordList, 'changed')] : []), ...(rule === 'oldest' ? [recordTime(type.recordList, 'created')] : [])];

	return chosenGroups.map(({ ids, problem, survivorId: chosenId }): DuplicateGroup | RefusedGroup => {
		const refuse = (reason: string): RefusedGroup => ({ ids, reason });
		if (problem !== undefined) return refuse(problem);
		if (ids.length < 2) return refuse('Records: the group has fewer than two different IDs, so there is nothing to merge.');
		const shared = ids.find((id) => itemsOf.get(id)!.length > 1);
		if (shared !== undefined) return refuse(`${shared} is in several groups (items ${itemsOf.get(shared)!.slice(0, 5).join(', ')}). Put each record into one group.`);
		const absent = ids.find((id) => !records.has(id));
		if (absent !== undefined) return refuse(`There is no record ${absent}, or the credential cannot see it. ${listsDeleted || !hasLog ? '' : 'If a merge of it was interrupted, undo that merge: Change → Undo → A Workflow. Otherwise: '}Remove it from the group.`);
		const itsDeletions = ids.flatMap((id) => deletions.get(id) ?? []);
		const gone = itsDeletions.find(({ isByThisMerge }) => !isByThisMerge);
		if (gone) return refuse(`${gone.text} ${gone.newId === undefined ? 'Remove it from the group, or undo its deletion.' : `An undo created it again as ${gone.newId}: put that into the group instead.`}`);
		const living = oldestFirst(type.recordList, ids.filter((id) => !deletions.has(id)).map((id) => records.get(id)!));
		const undated = living.length > 1 && living.find((record) => decidingTimes.some((timeOf) => Number.isNaN(timeOf(record))));
		if (undated) return refuse(`${undated.id} has no time at which it was created or changed, so the CRM does not say which record is the oldest or newest. Choose another rule.`);
		const survivor = rule === 'id' ? living.find(({ id }) => id === chosenId) : maxBy(living, precedence(rule, type));
		if (!survivor) return refuse(rule === 'id' ? `Survivor ID: “${chosenId}” is no existing record of the group.` : 'All records of the group are deleted.');
		const losers = living.filter((record) => record !== survivor);
		for (const loser of losers) {
			const lost = lostField(type, loser, survivor);
			if (lost !== undefined) return refuse(`${loser.id} has a value in ${lost}, which is read-only, archived or not understood (${ruleNumber(17)}), so it would be lost. Make the field writable, or leave the record out.`);
		}
		const [late] = listsDeleted || hasLog ? [] : type.compare.difference(survivor, mergedValues(type, [survivor, ...losers], true)).changes;
		if (late) return refuse(`${late.field} must be unique, so the survivor would get its value after the deletion. An interruption would lose it, as the CRM has neither deleted records nor a log. Move the value first.`);
		const deleted = oldestFirst(type.recordList, itsDeletions.map(({ record }) => record));
		return { ids, survivor, losers, deleted, howDeleted: itsDeletions.map(({ text }) => text).join(' ') };
	});
}

/** A custom field that is not merged, in which a record has a value that the survivor has not. */
function lostField({ merged }: MergedType, loser: IdentifiedRecord, survivor: IdentifiedRecord): string | undefined {
	const survivorValues = new Map(fieldEntries(survivor));
	const isLost = ([name, value]: [string, unknown]) => customKeyOf(name) !== undefined && !merged.some((field) => field.name === name)
		&& !hasOnlyBlanks(value) && !hasSameValue(value, survivorValues.get(name));
	return fieldEntries(loser).find(isLost)?.[0];
}

/** What is not read is the group’s problem, and an inexact ID an empty one. @throws NodeOperationError if the expressions fail for all items */
function readChosenGroups({ n8n }: NodeRun, rule: SurvivorRule): Array<{ ids: string[]; problem: string | undefined; survivorId: string }> {
	const parameters = [groupIds, ...(rule === 'id' ? [survivorId] : [])].map(({ displayName, name }) => ({ label: displayName, value: storedParameter(n8n, name, '') }));
	const [evaluation, ofIds] = [new Evaluation(n8n, parameters), new Evaluation(n8n, parameters.slice(0, 1))];
	const evaluated = n8n.getInputData().map((_, item) => resultOrError(() => evaluation.valuesOf(item)));
	if (evaluated.every((values) => values instanceof Error)) evaluated.forEach(orThrow);
	return evaluated.map((values, item) => {
		// If only the survivor is not read, the group still has its records, which no other group may have.
		const readable = values instanceof Error ? resultOrError(() => ofIds.valuesOf(item)) : values;
		const [ids, survivor] = readable instanceof Error ? [] : readable;
		const chosenId = resultOrError(() => parseId(survivorId.displayName, survivor));
		const parsed = listIn(ids).map((id) => resultOrError(() => parseId(groupIds.displayName, id)));
		const unread = [values, ...parsed, chosenId].find((result) => result instanceof Error);
		const problem = unread?.message ?? (parsed.includes('') ? 'Records: the item has a value that is no ID.' : undefined);
		return { ids: [...new Set(parsed.map((id) => (id instanceof Error ? '' : id)))], problem, survivorId: String(chosenId) };
	});
}

/** The number by which a record takes precedence over those that follow it in the order of their age. */
function precedence(rule: Exclude<SurvivorRule, 'id'>, { recordList, merged }: MergedType): (record: IdentifiedRecord) => number {
	if (rule === 'oldest') return () => 0;
	if (rule === 'newest') return recordTime(recordList, 'changed');
	return (record) => merged.filter(({ name }) => !hasOnlyBlanks(fieldValue(record, name))).length;
}

interface Deletion {
	record: IdentifiedRecord;
	/** A sentence about it. */
	text: string;
	/** Whether it belongs to a merge of this workflow that was interrupted, and that goes on. */
	isByThisMerge: boolean;
	/** The record that an undo created in its place. */
	newId?: string | undefined;
}

/** How these records were deleted, as far as the log says. */
async function readDeletions({ api, identity }: NodeRun, path: Collection, records: IdentifiedRecord[]): Promise<ReadonlyMap<string, Deletion>> {
	const deletions = new Map(records.map((record): [string, Deletion] =>
		[record.id, { record, text: `${record.id} was deleted before the log of the CRM begins.`, isByThisMerge: false }]));
	const remainingIds = new Set(deletions.keys());
	if (remainingIds.size === 0 || !(await hasEventLog(api))) return deletions;
	const log = await openEventLog(api);
	const catalog = await api.describeEvents();
	const [deleted, created] = [eventTypesOf(catalog, path, 'deleted'), eventTypesOf(catalog, path, 'created')];
	const newIdAfter = undoneDeletions(created, deleted);
	const thisWorkflow = originOf(identity.instance, identity.workflow);
	for await (const event of log.newestFirst([...deleted, ...created])) {
		const id = String(event.data.object.id);
		const newId = newIdAfter(event);
		if (deleted.includes(event.type) && remainingIds.delete(id)) {
			const isByMerge = causeOf(event).origin?.purpose === 'merge';
			const isByThisMerge = isByMerge && newId === undefined && madeBy(event, thisWorkflow) === 'this_workflow';
			deletions.set(id, { ...deletions.get(id)!, text: howDeleted(id, event), isByThisMerge, newId });
		}
		if (remainingIds.size === 0) break;
	}
	return deletions;
}

function howDeleted(id: string, event: CrmEvent): string {
	const { origin, actor } = causeOf(event);
	const who = origin ? `${origin.execution === undefined ? '' : `execution ${origin.execution} of `}workflow ${origin.workflow}` : actor === undefined ? 'an unknown user' : `${causerNames.actor} ${actor}`;
	return `${id} was ${origin?.purpose === 'merge' ? 'merged into another record' : 'deleted'} by ${who} at ${event.timestamp}.`;
}
