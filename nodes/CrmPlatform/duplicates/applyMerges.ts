import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { deletionByMerge } from '../api/http/idempotency';
import { collectionName } from '../api/http/path';
import { inParallel } from '../api/inParallel';
import { isRefused, recordName } from '../api/record';
import { getOrCreate } from '../base/maps';
import { applyPlan } from '../changes/apply';
import type { Change } from '../changes/merge';
import type { PlannedChange } from '../changes/plan';
import { listNameOf } from '../fields/keys';
import { recordsById } from '../lookUp/byId';
import type { IdentifiedRecord } from '../lookUp/recordList';
import type { NodeRun } from '../model';
import type { DuplicateGroup } from './groups';
import { isLinkMoved, recordsLinkingTo, withLinksMoved, type LinkingCollection } from './linkingRecords';
import { mergedValues, type MergedType } from './mergedValues';

/** The merge of one group: what it does, and what was done of it so far. The id of its survivor identifies it. */
export interface GroupMerge extends DuplicateGroup {
	/** The values that the survivor gets at once: those that must be unique are free when their holder is gone. */
	values: IDataObject;
	/** How the survivor changes, unique values included. */
	changes: Change[];
	/** The single values of the others that it does not get. */
	notKept: IDataObject[];
	/** As outputs say them. */
	movedLinks: IDataObject[];
	/** Why the rest of it was not done. */
	stopped: string | Error | undefined;
	/** The fields that the survivor got; undefined before anything was written. */
	changedFields: string[] | undefined;
	/** The losers of which the log shows, by a link that moves, which record is kept. */
	traced: IdentifiedRecord[];
}

/** A change of a record, and the merges that need it, by their survivors. */
interface SharedChange {
	survivors: string[];
	change: PlannedChange & { record: IdentifiedRecord };
}

/** The changes that move the links of a collection. */
interface LinkMoves {
	linking: LinkingCollection;
	moves: SharedChange[];
}

/** The values that must be unique, with those of the records that are deleted by now. */
export const uniqueValues = (type: MergedType, { survivor, losers, deleted }: DuplicateGroup): IDataObject =>
	mergedValues(type, [survivor, ...losers, ...deleted], true);

/**
 * Merges groups, all of them step by step. After each step, the CRM has every value and link at least once, and a further
 * run can go on from there.
 */
export async function applyMerges(running: NodeRun, type: MergedType, planned: GroupMerge[]): Promise<GroupMerge[]> {
	const run: NodeRun = { ...running, identity: { ...running.identity, runKey: randomUUID(), purpose: 'merge' } };
	const updates = planned.filter(isOngoing).flatMap((merge) => survivorUpdate(type, merge, merge.values));
	let merges = await writeStep(run, type, planned, 'values', updates);
	merges = await moveLinks(run, type, merges, 'links', merges.filter(isOngoing).flatMap(({ losers }) => losers));
	merges = await rereadSurvivors(type, merges, isOngoing, survivorGone);
	merges = await deleteLosers(run, type, merges);
	merges = await rereadSurvivors(type, merges, isEmptied, allGone);
	merges = await writeUniqueValues(run, type, merges);
	// Those that others have made meanwhile.
	return await moveLinks(run, type, merges, 'late', merges.flatMap(({ deleted }) => deleted));
}

const isOngoing = ({ stopped }: GroupMerge): boolean => stopped === undefined;

/** Whether all losers are deleted. */
const isEmptied = ({ losers, deleted }: GroupMerge): boolean => deleted.length > 0 && losers.every((loser) => deleted.includes(loser));

/** The update that gives a survivor values, unless it has them. @param isChosen as `difference` takes it */
function survivorUpdate(
	{ compare }: MergedType, { survivor: record }: GroupMerge, values: IDataObject, isChosen?: (field: string) => boolean,
): SharedChange[] {
	const { changes, patch } = compare.difference(record, values, isChosen);
	return changes.length === 0 ? [] : [{ survivors: [record.id], change: { action: 'update', record, patch, changes } }];
}

async function moveLinks(
	run: NodeRun, type: MergedType, planned: GroupMerge[], step: string, removed: IdentifiedRecord[],
): Promise<GroupMerge[]> {
	const found = await findLinkMoves(type, planned, removed);
	let merges = withLinkMoves(planned, found);
	for (const { linking, moves } of found) merges = await writeStep(run, type, merges, step, moves, linking);
	return merges;
}

/** Reads survivors again, since others may have changed them. A merge whose survivor is gone goes no further. */
async function rereadSurvivors(
	{ recordList }: MergedType, merges: GroupMerge[], isConcerned: (merge: GroupMerge) => boolean, reason: string,
): Promise<GroupMerge[]> {
	const read = await recordsById(recordList.api, recordList, merges.filter(isConcerned).map(({ survivor }) => survivor.id));
	return merges.map((merge) => {
		if (!isConcerned(merge)) return merge;
		const survivor = read.get(merge.survivor.id);
		return survivor ? { ...merge, survivor: { ...survivor, id: merge.survivor.id } } : { ...merge, stopped: reason };
	});
}

async function deleteLosers(run: NodeRun, type: MergedType, planned: GroupMerge[]): Promise<GroupMerge[]> {
	// An erasure of the survivor finds a contact that was merged into it by a link that moved, or by a key that names both.
	const needsKey = ({ traced }: GroupMerge, loser: IdentifiedRecord) => type.recordList.path === '/contacts' && !traced.includes(loser);
	let merges = planned;
	for (const areAlone of [false, true]) {
		const changes = merges.filter(isOngoing).flatMap((merge) =>
			merge.losers.filter((loser) => needsKey(merge, loser) === areAlone).map((record): SharedChange => {
				const deletion = areAlone && { deletion: deletionByMerge(merge.survivor.id, record.id, run.identity.execution) };
				return { survivors: [merge.survivor.id], change: { action: 'delete', record, changes: [], ...deletion } };
			}));
		merges = await writeStep(run, type, merges, areAlone ? 'deletions alone' : 'deletions', changes);
	}
	return merges;
}

async function writeUniqueValues(run: NodeRun, type: MergedType, planned: GroupMerge[]): Promise<GroupMerge[]> {
	let merges = planned;
	for (const field of type.fields.filter(({ unique }) => unique)) {
		const names = [field.name, listNameOf(field)];
		// Also those that failed with an earlier value: the values of deleted records are nowhere else.
		const changes = merges.filter((merge) => isEmptied(merge) && merge.stopped !== allGone)
			.flatMap((merge) => survivorUpdate(type, merge, uniqueValues(type, merge), (name) => names.includes(name)));
		merges = await writeStep(run, type, merges, field.name, changes);
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
		const moves = staying.map((record): SharedChange => {
			const survivors = new Set<string>();
			const { changes, patch } = withLinksMoved(record, each, recordList.path, (id) => {
				const survivor = ids.has(id) ? survivorOf.get(id) : undefined;
				if (survivor === undefined || (isSameType && survivor === record.id)) return undefined;
				survivors.add(survivor);
				return survivor;
			});
			return { survivors: [...survivors], change: { action: 'update', record, patch, changes } };
		});
		return { linking: each, moves: moves.filter(({ change }) => change.changes.length > 0) };
	});
}

/** The merges with the links that they move. */
export function withLinkMoves(merges: GroupMerge[], found: LinkMoves[]): GroupMerge[] {
	const movesBySurvivor = new Map<string, Array<SharedChange['change'] & { collection: string }>>();
	for (const { linking, moves } of found) {
		const collection = collectionName(linking.recordList.path);
		for (const { survivors, change } of moves) {
			for (const id of survivors) getOrCreate(movesBySurvivor, id, () => []).push({ ...change, collection });
		}
	}
	return merges.map((merge) => {
		const moves = movesBySurvivor.get(merge.survivor.id) ?? [];
		const movedLinks = moves.flatMap(({ collection, record, changes }) =>
			changes.map(({ field }): IDataObject => ({ collection, id: record.id, name: recordName(record) ?? null, field })));
		const isMoved = ({ id }: IdentifiedRecord) =>
			moves.some(({ changes }) => changes.some(({ from, to }) => isLinkMoved(from, to, id, merge.survivor.id)));
		return { ...merge, movedLinks: [...merge.movedLinks, ...movedLinks], traced: merge.losers.filter(isMoved) };
	});
}

/** Writes changes of one collection. A merge goes no further after its first change that fails. @returns the merges after them */
async function writeStep(
	run: NodeRun, type: MergedType, merges: GroupMerge[], step: string, changes: SharedChange[],
	{ resource, recordList }: Pick<LinkingCollection, 'resource' | 'recordList'> = type,
): Promise<GroupMerge[]> {
	const identity = { ...run.identity, runKey: `${run.identity.runKey}/${step}/${recordList.path}` };
	const planned = changes.map(({ change }, item): PlannedChange => ({ ...change, item }));
	const applied = await applyPlan({ ...run, resource, identity }, recordList.path, planned, { stopsAt: (error) => !isRefused(error) });
	const results = new Map<string, ChangeResult[]>();
	for (const [i, { survivors, change }] of changes.entries()) {
		const result = resultOf(applied.get(planned[i]!), `${collectionName(recordList.path)}/${change.record.id}`);
		for (const id of survivors) getOrCreate(results, id, () => []).push({ change, result });
	}
	return merges.map((merge) => (results.get(merge.survivor.id) ?? []).reduce(withResult, merge));
}

interface ChangeResult extends Pick<SharedChange, 'change'> {
	/** The record as the CRM has it now, or had it before it was deleted; or why the change was not made. */
	result: IdentifiedRecord | string | Error;
}

/** @param applied the change of a record as it was made; undefined if it was not tried */
function resultOf(applied: PlannedChange | Error | undefined, subject: string): ChangeResult['result'] {
	if (!applied) return new Error('It was not tried, because another group failed. Run it again.');
	if (applied instanceof Error) return isRefused(applied) ? `${subject}: The CRM refused it: ${applied.message}` : applied;
	return applied.action === 'conflict' ? `${subject}: ${applied.reason ?? ''}` : applied.record!;
}

function withResult(merge: GroupMerge, { change: { action, record, changes }, result }: ChangeResult): GroupMerge {
	const { survivor, deleted, stopped, changedFields = [] } = merge;
	if (typeof result === 'string' || result instanceof Error) return { ...merge, stopped: stopped ?? result };
	if (action === 'delete') return { ...merge, changedFields, deleted: [...deleted, result] };
	if (record !== survivor) return { ...merge, changedFields };
	return { ...merge, survivor: { ...survivor, ...result }, changedFields: [...changedFields, ...changes.map(({ field }) => field)] };
}

const survivorGone = 'The survivor was deleted after this run read it. Nothing was deleted.';
const allGone = 'The survivor was deleted while its duplicates were: no record of the group is left. Undo this execution to restore them.';
