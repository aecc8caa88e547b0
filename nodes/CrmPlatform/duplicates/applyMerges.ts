import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { deletionByMerge } from '../api/http/idempotency';
import { collectionName } from '../api/http/path';
import { inParallel } from '../api/inParallel';
import { isRefused } from '../api/record';
import { applyPlan } from '../changes/apply';
import type { Difference } from '../changes/merge';
import type { PlannedChange } from '../changes/plan';
import type { Field } from '../fields/field';
import { listNameOf } from '../fields/keys';
import { recordsById, type IdentifiedRecord } from '../lookUp/lookUp';
import type { Execution } from '../model';
import { versionOf } from '../writing/replace';
import {
	afterWrites, failuresOf, withLinkMoves, withStops, type GroupMerge, type LinkMove, type LinkMoves, type MergeStep, type StepOutcome,
} from './groupMerge';
import type { DuplicateGroup } from './groups';
import { recordsLinkingTo, withLinksMoved, type LinkingCollection } from './linkingRecords';
import { mergedValues, type MergedType } from './mergedValues';

/** What all steps of a run share. */
interface MergeRun {
	execution: Execution;
	type: MergedType;
	/** Distinguishes the keys of its writes from those of other runs. */
	id: string;
}

/** The values that must be unique, with those of the records that are deleted by now. */
export const uniqueValues = (type: MergedType, { survivor, losers, deleted }: DuplicateGroup): IDataObject =>
	mergedValues(type, [survivor, ...losers, ...deleted], true);

/**
 * Merges groups, all of them step by step. After each step, the CRM has every value and link at least once, and a further
 * run can go on from there: values, links, deletions, values that must be unique, links that others have made meanwhile.
 */
export async function applyMerges(execution: Execution, type: MergedType, planned: GroupMerge[]): Promise<GroupMerge[]> {
	const run: MergeRun = { execution, type, id: randomUUID() };
	let merges = await moveValues(run, planned);
	merges = await moveLinks(run, 'links', merges, merges.filter(isGoing).flatMap(({ losers }) => losers));
	merges = await withSurvivorsRead(type, merges, survivorIds(merges.filter(isGoing)), survivorGone);
	for (const areAlone of [false, true]) merges = await deleteLosers(run, merges, areAlone);
	merges = await withSurvivorsRead(type, merges, survivorIds(merges.filter(isEmptied)), allGone);
	for (const field of type.fields.filter(({ unique }) => unique)) merges = await moveUniqueValue(run, field, merges);
	return await moveLinks(run, 'late', merges, merges.flatMap(({ deleted }) => deleted));
}

const isGoing = ({ stopped }: GroupMerge): boolean => stopped === undefined;

/** Whether all losers are deleted. */
const isEmptied = ({ losers, deleted }: GroupMerge): boolean => deleted.length > 0 && losers.every((loser) => deleted.includes(loser));

const survivorIds = (merges: GroupMerge[]): ReadonlySet<string> => new Set(merges.map(({ survivor }) => survivor.id));

async function moveValues(run: MergeRun, merges: GroupMerge[]): Promise<GroupMerge[]> {
	const { type } = run;
	const steps = merges.filter(isGoing).flatMap((merge) => survivorUpdate(merge, type.compare.difference(merge.survivor, merge.values)));
	return await written(run, 'values', type, merges, steps);
}

/** @param areAlone whether to delete those that need requests of their own (`deletionsOf`) */
async function deleteLosers(run: MergeRun, merges: GroupMerge[], areAlone: boolean): Promise<GroupMerge[]> {
	const steps = merges.filter(isGoing).flatMap((merge) => deletionsOf(run, merge, areAlone));
	return await written(run, areAlone ? 'deletions alone' : 'deletions', run.type, merges, steps);
}

/** @param areAlone those that an erasure of the survivor would not find in the log, unless a key names both records */
function deletionsOf({ execution: { identity }, type }: MergeRun, merge: GroupMerge, areAlone: boolean): MergeStep[] {
	const isAlone = ({ id }: IdentifiedRecord) => type.recordList.path === '/contacts' && !merge.traced.has(id);
	return merge.losers.filter((loser) => isAlone(loser) === areAlone).map((record): MergeStep => {
		const deletion = areAlone && { deletion: deletionByMerge(merge.survivor.id, record.id, identity.execution) };
		return { survivors: [merge.survivor.id], change: { action: 'delete', record, changes: [], ...deletion } };
	});
}

const survivorUpdate = ({ survivor: record }: GroupMerge, { changes, patch }: Difference): MergeStep[] =>
	(changes.length === 0 ? [] : [{ survivors: [record.id], change: { action: 'update', record, patch, changes } }]);

/**
 * Reads survivors again: a merge whose survivor is gone goes no further.
 *
 * @param areStale whether others may have changed them, which without versions goes unnoticed
 */
async function withSurvivorsRead(
	{ recordList }: MergedType,
	merges: GroupMerge[],
	ids: ReadonlySet<string>,
	reason: string,
	areStale = merges.some(({ survivor }) => ids.has(survivor.id) && versionOf(survivor) === undefined),
): Promise<GroupMerge[]> {
	const read = await recordsById(recordList.api, { ...recordList, fields: areStale ? recordList.fields : [] }, [...ids]);
	return merges.map((merge) => {
		const { id } = merge.survivor;
		const record = read.get(id);
		if (!record) return ids.has(id) ? { ...merge, stopped: reason } : merge;
		return areStale ? { ...merge, survivor: { ...record, id } } : merge;
	});
}

/**
 * Tries again what others have prevented by changing a survivor: the values of deleted records are nowhere else.
 *
 * @param left the merges that still need it
 */
async function moveUniqueValue(
	run: MergeRun,
	field: Field,
	planned: GroupMerge[],
	left = survivorIds(planned.filter(isEmptied)),
	attempt = 1,
): Promise<GroupMerge[]> {
	if (left.size === 0) return planned;
	const { type } = run;
	const names = [field.name, listNameOf(field)];
	const merges = attempt === 1 ? planned : await withSurvivorsRead(type, planned, left, allGone, true);
	// Also those whose survivor was found gone with an earlier value are left out.
	const steps = merges.filter(({ survivor, stopped }) => left.has(survivor.id) && stopped !== allGone).flatMap((merge) => {
		const difference = type.compare.difference(merge.survivor, uniqueValues(type, merge), (name) => names.includes(name));
		return survivorUpdate(merge, difference);
	});
	const outcomes = await write(run, `${field.name}/${attempt}`, type, steps);
	const failed = failuresOf(outcomes);
	const done = afterWrites(merges, true, outcomes);
	if (attempt === maxAttempts) return withStops(done, failed);
	return await moveUniqueValue(run, field, done, new Set(failed.keys()), attempt + 1);
}

async function moveLinks(run: MergeRun, step: string, planned: GroupMerge[], removed: IdentifiedRecord[]): Promise<GroupMerge[]> {
	const found = await findLinkMoves(run.type, planned, removed);
	let merges = withLinkMoves(planned, found);
	for (const { linking, moves } of found) {
		const steps = moves.flatMap(({ survivors, record, changes, patch, unwritable }): MergeStep[] =>
			(unwritable ? [] : [{ survivors, change: { action: 'update', record, patch, changes } }]));
		merges = await written(run, step, linking, merges, steps);
	}
	return merges;
}

/** Finds the links to records that do not stay, except for those of records that do not stay either. */
export async function findLinkMoves(
	{ recordList, linking }: MergedType,
	merges: GroupMerge[],
	removed: IdentifiedRecord[],
): Promise<LinkMoves[]> {
	const ids = new Set(removed.map(({ id }) => id));
	if (ids.size === 0) return [];
	const survivorOf = new Map(merges.flatMap(({ survivor, losers, deleted }) => [...losers, ...deleted].map(({ id }) => [id, survivor.id])));
	const read = await inParallel(linking, async (each) => await recordsLinkingTo(each, recordList.path, [...ids]));
	return linking.map((each, i): LinkMoves => {
		const isSameType = each.recordList.path === recordList.path;
		const staying = read[i]!.filter(({ id }) => !(isSameType && ids.has(id)));
		const moves = staying.map((record): LinkMove => {
			const survivors = new Set<string>();
			const moved = withLinksMoved(record, each, recordList.path, (id) => {
				const survivor = ids.has(id) ? survivorOf.get(id) : undefined;
				if (survivor === undefined || (isSameType && survivor === record.id)) return undefined;
				survivors.add(survivor);
				return survivor;
			});
			return { record, survivors: [...survivors], ...moved };
		});
		return { linking: each, moves: moves.filter(({ changes }) => changes.length > 0) };
	});
}

/** The merges after these steps. A merge with a step that fails goes no further. */
async function written(
	run: MergeRun,
	name: string,
	collection: WrittenCollection,
	merges: GroupMerge[],
	steps: MergeStep[],
): Promise<GroupMerge[]> {
	const outcomes = await write(run, name, collection, steps);
	return withStops(afterWrites(merges, collection.recordList.path === run.type.recordList.path, outcomes), failuresOf(outcomes));
}

type WrittenCollection = Pick<LinkingCollection, 'resource' | 'recordList'>;

/** Makes changes of one collection. */
async function write(run: MergeRun, name: string, { resource, recordList }: WrittenCollection, steps: MergeStep[]): Promise<StepOutcome[]> {
	const { identity } = run.execution;
	const key = { ...identity, run: `${run.id}/${name}/${recordList.path}`, purpose: 'merge' as const };
	const planned = steps.map(({ change }, item): PlannedChange => ({ ...change, item }));
	const execution = { ...run.execution, resource, identity: key };
	const outcome = await applyPlan(execution, recordList, planned, { stopsAt: (error) => !isRefused(error) });
	const done = new Map(outcome.done.map((change) => [change.item, change]));
	const errors = new Map(outcome.failures.map(({ item, error }) => [item, error]));
	return steps.map((step, i): StepOutcome => {
		const { action, record, reason = '' } = done.get(i) ?? {};
		if (record && action !== 'conflict') return { ...step, record, failure: undefined };
		const subject = `${collectionName(recordList.path)}/${String(step.change.record!.id)}`;
		const error = errors.get(i) ?? new Error('It was not tried, because another group failed. Run it again.');
		const refusal = isRefused(error) ? `${subject}: The CRM refused it: ${error.message}` : error;
		return { ...step, record: undefined, failure: action === 'conflict' ? `${subject}: ${reason}` : refusal };
	});
}

const maxAttempts = 3;
const survivorGone = 'The survivor was deleted after this run read it. Nothing was deleted.';
const allGone = 'The survivor was deleted while its duplicates were: no record of the group is left. Undo this execution to restore them.';
