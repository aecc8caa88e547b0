import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { mergeSubject } from '../api/http/idempotency';
import { collectionName } from '../api/http/path';
import { inParallel } from '../api/inParallel';
import { isLinkMoved } from '../api/openapi/linkFields';
import { isRefused, refusalText } from '../api/refusals';
import { canonicalText, hasSameValue } from '../base/json';
import { getOrCreate } from '../base/maps';
import { applyPlan, type FieldChange, type RecordChange } from '../changes/apply';
import { listNameOf } from '../fields/keys';
import { fieldValue } from '../log/eventFields';
import { recordsById, type IdentifiedRecord } from '../lookUp/lookUp';
import type { NodeRun } from '../model';
import { versionOf } from '../writing/versions';
import type { DuplicateGroup } from './duplicateGroups';
import { recordsLinkingTo, withLinksMoved, type LinkingCollection } from './linkingRecords';
import { mergedValues, oldestFirst, type MergedType } from './mergedValues';

/** The merge of one group on its way: what it does, and what was done of it so far. Each phase returns the next state. */
export interface GroupMerge extends DuplicateGroup {
	/** The values that the survivor gets at once: those that must be unique are free when their holder is gone. */
	values: IDataObject;
	/** How the survivor changes, unique values included. */
	changes: FieldChange[];
	/** The values of the others, and the entries of their lists, that it does not get. */
	notKept: IDataObject[];
	/** The changes that move links to the survivor. */
	moves: LinkMove[];
	/** The ids of the losers of which the log shows, by a link that moves, which record is kept. */
	traced: ReadonlySet<string>;
	/** Why the rest of it was not done. */
	stopped?: string | Error;
	/** Whether the survivor was deleted after this run read it, so that it can get nothing any more. */
	isSurvivorGone?: boolean;
	/** Whether anything was written. */
	isBegun: boolean;
	/** The fields that the survivor got. */
	changedFields: string[];
}

/** A change of a record that merges need: those with these survivors. */
interface MergeChange extends RecordChange {
	record: IdentifiedRecord;
	survivorIds: string[];
}

interface LinkMove extends MergeChange {
	linking: LinkingCollection;
}

/** The values that must be unique, with those of some other records. Their order is the same after an interruption. */
export const uniqueValues = (type: MergedType, survivor: IdentifiedRecord, others: IdentifiedRecord[]): IDataObject =>
	mergedValues(type, [survivor, ...oldestFirst(type.recordList, others)], true);

/**
 * Merges all groups phase by phase: after each, the CRM has every value and link at least once, and a further run can go on from there.
 *
 * @returns the merges with what was done of them, in their order
 */
export async function applyMerges(running: NodeRun, type: MergedType, intended: GroupMerge[]): Promise<GroupMerge[]> {
	const run: NodeRun = { ...running, identity: { ...running.identity, runKey: randomUUID(), purpose: 'merge' } };
	const updates = intended.filter(isOngoing).flatMap((merge) => survivorUpdate(type, merge, merge.values));
	let merges = await writePhase(run, type, 'values', intended, updates);
	merges = await moveLinks(run, type, 'links', merges, losersOf(merges));
	merges = await withSurvivorsReread(type, merges, isOngoing, 'The survivor was deleted after this run read it. Nothing was deleted.');
	merges = await deleteLosers(run, type, merges);
	merges = await withSurvivorsReread(type, merges, hasDeleted, allGone);
	merges = await writeUniqueValues(run, type, merges);
	// Those that others have made while losers were deleted.
	return await moveLinks(run, type, 'late', merges, merges.filter(mayInherit).flatMap(({ deleted }) => deleted));
}

export const isOngoing = ({ stopped }: GroupMerge): boolean => stopped === undefined;

const losersOf = (merges: GroupMerge[]): IdentifiedRecord[] => merges.filter(isOngoing).flatMap(({ losers }) => losers);

const hasDeleted = ({ deleted }: GroupMerge): boolean => deleted.length > 0;

/** Whether the survivor may still get what deleted records had. */
const mayInherit = (merge: GroupMerge): boolean => hasDeleted(merge) && !merge.isSurvivorGone;

/** The update that gives a survivor values, unless it has them. @param names of the fields that count; all if absent */
function survivorUpdate({ compare }: MergedType, { survivor }: GroupMerge, values: IDataObject, names?: string[]): MergeChange[] {
	const { changes, patch } = compare.difference(survivor, values, names && ((name) => names.includes(name)));
	return changes.length === 0 ? [] : [{ action: 'update', record: survivor, patch, changes, survivorIds: [survivor.id] }];
}

async function moveLinks(run: NodeRun, type: MergedType, phase: string, merges: GroupMerge[], removed: IdentifiedRecord[]): Promise<GroupMerge[]> {
	// A list that lags still shows links that have moved, in the version that their record had before.
	const identity = ({ linking, record, changes }: LinkMove) => canonicalText([linking.recordList.path, record.id, versionOf(record), changes]);
	const already = new Set(merges.flatMap(({ moves }) => moves.map(identity)));
	const isNew = (move: LinkMove) => versionOf(move.record) === undefined || !already.has(identity(move));
	const moves = (await planLinkMoves(type, merges, removed)).filter(isNew);
	let moved = withLinkMoves(merges, moves);
	for (const each of type.linking) moved = await writePhase(run, type, phase, moved, moves.filter(({ linking }) => linking === each), each);
	return moved;
}

/** Reads survivors again, since others may have changed them. A merge whose survivor is gone goes no further. */
async function withSurvivorsReread(
	{ recordList }: MergedType, merges: GroupMerge[], isConcerned: (merge: GroupMerge) => boolean, reason: string,
): Promise<GroupMerge[]> {
	const current = await recordsById(recordList.api, recordList, merges.filter(isConcerned).map(({ survivor }) => survivor.id));
	return merges.map((merge): GroupMerge => {
		if (!isConcerned(merge)) return merge;
		const survivor = current.get(merge.survivor.id);
		return survivor ? { ...merge, survivor, isSurvivorGone: false } : { ...merge, stopped: reason, isSurvivorGone: true };
	});
}

/** Stops merges of which a loser is not as it was read, where the service itself deletes it nevertheless. */
async function withChangedLosersStopped({ recordList, merged, deletesVersion }: MergedType, merges: GroupMerge[]): Promise<GroupMerge[]> {
	const unprotected = (merge: GroupMerge) =>
		(isOngoing(merge) ? merge.losers.filter((loser) => !deletesVersion || versionOf(loser) === undefined) : []);
	const current = await recordsById(recordList.api, recordList, merges.flatMap(unprotected).map(({ id }) => id));
	const isChanged = (loser: IdentifiedRecord) =>
		!merged.every(({ name }) => hasSameValue(fieldValue(loser, name), fieldValue(current.get(loser.id) ?? {}, name)));
	return merges.map((merge): GroupMerge => {
		const changed = unprotected(merge).find((loser) => !current.has(loser.id) || isChanged(loser));
		return changed ? { ...merge, stopped: `${collectionName(recordList.path)}/${changed.id} was changed or deleted after this run read it.` } : merge;
	});
}

async function deleteLosers(run: NodeRun, type: MergedType, merges: GroupMerge[]): Promise<GroupMerge[]> {
	// An erasure of the survivor finds a contact that was merged into it by a link that moved, or by a key that names both.
	const isUntraced = (traced: ReadonlySet<string>, { id }: IdentifiedRecord) => type.recordList.path === '/contacts' && !traced.has(id);
	const alone = new Set(merges.flatMap(({ losers, traced }) => losers.filter((loser) => isUntraced(traced, loser))));
	let next = merges;
	for (const areAlone of [false, true]) {
		const isDeleted = (loser: IdentifiedRecord) => alone.has(loser) === areAlone;
		if (!losersOf(next).some(isDeleted)) continue;
		// A CRM may clear links to deleted records, so those that others have made since the last look move first.
		next = await moveLinks(run, type, areAlone ? 'links before deletions alone' : 'links before deletions', next, losersOf(next));
		next = await withChangedLosersStopped(type, next);
		const changes = next.filter(isOngoing).flatMap((merge) =>
			merge.losers.filter(isDeleted).map((record): MergeChange => {
				const key = areAlone && { keySubject: mergeSubject(merge.survivor.id, record.id, run.identity.execution) };
				return { action: 'delete', record, changes: [], survivorIds: [merge.survivor.id], ...key };
			}));
		next = await writePhase(run, type, areAlone ? 'deletions alone' : 'deletions', next, changes);
	}
	return next;
}

async function writeUniqueValues(run: NodeRun, type: MergedType, merges: GroupMerge[]): Promise<GroupMerge[]> {
	let next = merges;
	for (const field of type.fields.filter(({ unique }) => unique)) {
		const names = [field.name, listNameOf(field)];
		// Also those that failed before: the values of deleted records are nowhere else.
		const changes = next.filter(mayInherit).flatMap((merge) =>
			survivorUpdate(type, merge, uniqueValues(type, merge.survivor, merge.deleted), names));
		next = await writePhase(run, type, field.name, next, changes);
	}
	return next;
}

/** The changes that move links to the survivors, except for the links of records that do not stay either. */
export async function planLinkMoves({ recordList, linking }: MergedType, merges: GroupMerge[], removed: IdentifiedRecord[]): Promise<LinkMove[]> {
	const removedIds = new Set(removed.map(({ id }) => id));
	if (removedIds.size === 0) return [];
	const survivorIdOf = new Map(merges.flatMap(({ losers, deleted, survivor }) =>
		[...losers, ...deleted].filter(({ id }) => removedIds.has(id)).map(({ id }) => [id, survivor.id])));
	const linkingRecords = await inParallel(linking, async (each) => await recordsLinkingTo(each, recordList.path, [...removedIds]));
	return linking.flatMap((each, i) => {
		const isSameType = each.recordList.path === recordList.path;
		const staying = linkingRecords[i]!.filter(({ id }) => !(isSameType && removedIds.has(id)));
		return staying.flatMap((record): LinkMove[] => {
			const survivorIds = new Set<string>();
			const { changes, patch } = withLinksMoved(record, each, recordList.path, (id) => {
				const survivorId = survivorIdOf.get(id);
				if (survivorId === undefined || (isSameType && survivorId === record.id)) return undefined;
				survivorIds.add(survivorId);
				return survivorId;
			});
			return changes.length === 0 ? [] : [{ action: 'update', record, patch, changes, survivorIds: [...survivorIds], linking: each }];
		});
	});
}

export function withLinkMoves(merges: GroupMerge[], moves: LinkMove[]): GroupMerge[] {
	const movesBySurvivor = new Map<string, LinkMove[]>();
	for (const move of moves) for (const id of move.survivorIds) getOrCreate(movesBySurvivor, id, () => []).push(move);
	return merges.map((merge): GroupMerge => {
		const itsMoves = movesBySurvivor.get(merge.survivor.id) ?? [];
		const isTraced = (loser: IdentifiedRecord) => itsMoves.some(({ changes }) =>
			changes.some(({ from, to }) => isLinkMoved(from, to, loser.id, merge.survivor.id)));
		const traced = new Set([...merge.traced, ...merge.losers.filter(isTraced).map(({ id }) => id)]);
		return { ...merge, moves: [...merge.moves, ...itsMoves], traced };
	});
}

/** Writes changes of one collection. A merge goes no further after its first change that fails. @returns the merges afterwards */
async function writePhase(
	run: NodeRun, type: MergedType, phase: string, merges: GroupMerge[], changes: MergeChange[],
	{ resource, recordList: { path } }: Pick<LinkingCollection, 'resource' | 'recordList'> = type,
): Promise<GroupMerge[]> {
	const identity = { ...run.identity, runKey: `${run.identity.runKey}/${phase}/${path}` };
	const planned = changes.map((change, item): RecordChange => ({ ...change, item }));
	const results = await applyPlan({ ...run, resource, identity }, path, planned, { stopsAt: (error) => !isRefused(error) });
	const bySurvivor = new Map(merges.map((merge) => [merge.survivor.id, merge]));
	for (const [i, change] of changes.entries()) {
		for (const id of change.survivorIds) bySurvivor.set(id, afterResult(bySurvivor.get(id)!, change, results[i], collectionName(path)));
	}
	return [...bySurvivor.values()];
}

/** @param result of the change; undefined if it was not tried */
function afterResult(merge: GroupMerge, change: MergeChange, result: RecordChange | Error | undefined, collection: string): GroupMerge {
	const { survivor, losers, deleted, stopped, changedFields } = merge;
	const { action, record, changes } = change;
	if (!result || result instanceof Error || result.action === 'conflict') {
		return { ...merge, stopped: stopped ?? whyNotMade(result, `${collection}/${record.id}`) };
	}
	const begun: GroupMerge = { ...merge, isBegun: true };
	if (action === 'delete') return { ...begun, losers: losers.filter((loser) => loser !== record), deleted: [...deleted, record] };
	if (record !== survivor) return begun;
	return { ...begun, changedFields: [...changedFields, ...changes.map(({ field }) => field)], survivor: { ...survivor, ...result.record } };
}

/** @param name of the changed record, such as `contacts/con_1` */
function whyNotMade(result: RecordChange | Error | undefined, name: string): string | Error {
	if (!result) return new Error('It was not tried, because another group failed. Run it again.');
	if (result instanceof Error) return isRefused(result) ? `${name}: ${refusalText(result)}` : result;
	return `${name}: ${result.reason ?? ''}`;
}

const allGone = 'The survivor was deleted while its duplicates were, so their values are in no record. Undo this execution to restore them.';
