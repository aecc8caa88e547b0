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
import type { Field } from '../fields/field';
import { listNameOf } from '../fields/keys';
import { recordsById, type IdentifiedRecord } from '../lookUp/lookUp';
import type { NodeRun } from '../model';
import type { DuplicateGroup } from './groups';
import { isLinkMoved, recordsLinkingTo, withLinksMoved, type LinkingCollection } from './linkingRecords';
import { type LostValue, mergedValues, type MergedType } from './mergedValues';

/** The merge of one group: what it does, and what was done of it so far. The id of its survivor identifies it. */
export interface GroupMerge extends DuplicateGroup {
	/** The values that the survivor gets at once: those that must be unique are free when their holder is gone. */
	values: IDataObject;
	/** How the survivor changes, unique values included. */
	changes: Change[];
	/** The single values of the others that it does not get. */
	notKept: LostValue[];
	/** The links that move. */
	links: IDataObject[];
	/** Why the rest of it was not done. */
	stopped: string | Error | undefined;
	/** The fields that the survivor got; undefined before anything was written. */
	writtenFields: ReadonlySet<string> | undefined;
	/** The losers of which the log shows, by a link that moved, which record is kept. */
	traced: ReadonlySet<string>;
}

/** A change of a record, and the merges that need it, by their survivors. */
interface SharedChange {
	survivors: string[];
	change: PlannedChange & { record: IdentifiedRecord };
	/** A field with a link that would have to move, but cannot be written: the change is left out. */
	unwritable?: Field;
}

/** The changes that move the links of a collection. */
interface LinkMoves {
	linking: LinkingCollection;
	moves: SharedChange[];
}

/** What all steps of a run have in common. */
interface MergeRun {
	execution: NodeRun;
	type: MergedType;
	/** Distinguishes the keys of its writes from those of other runs. */
	id: string;
}

/** The values that must be unique, with those of the records that are deleted by now. */
export const uniqueValues = (type: MergedType, { survivor, losers, deleted }: DuplicateGroup): IDataObject =>
	mergedValues(type, [survivor, ...losers, ...deleted], true);

/**
 * Merges groups, all of them step by step. After each step, the CRM has every value and link at least once, and a further
 * run can go on from there.
 */
export async function applyMerges(execution: NodeRun, type: MergedType, planned: GroupMerge[]): Promise<GroupMerge[]> {
	const run: MergeRun = { execution, type, id: randomUUID() };
	const updates = planned.filter(isOngoing).flatMap((merge) => survivorUpdate(run, merge, merge.values));
	let merges = await writeStep(run, 'values', planned, updates);
	merges = await moveLinks(run, 'links', merges, merges.filter(isOngoing).flatMap(({ losers }) => losers));
	merges = await rereadSurvivors(run, merges, isOngoing, survivorGone);
	merges = await deleteLosers(run, merges);
	merges = await rereadSurvivors(run, merges, isEmptied, allGone);
	merges = await writeUniqueValues(run, merges);
	// Those that others have made meanwhile.
	return await moveLinks(run, 'late', merges, merges.flatMap(({ deleted }) => deleted));
}

const isOngoing = ({ stopped }: GroupMerge): boolean => stopped === undefined;

/** Whether all losers are deleted. */
const isEmptied = ({ losers, deleted }: GroupMerge): boolean => deleted.length > 0 && losers.every((loser) => deleted.includes(loser));

/** The update that gives a survivor values, unless it has them. @param isChosen as `difference` takes it */
function survivorUpdate(
	{ type }: MergeRun, { survivor: record }: GroupMerge, values: IDataObject, isChosen?: (field: string) => boolean,
): SharedChange[] {
	const { changes, patch } = type.compare.difference(record, values, isChosen);
	return changes.length === 0 ? [] : [{ survivors: [record.id], change: { action: 'update', record, patch, changes } }];
}

async function moveLinks(run: MergeRun, step: string, planned: GroupMerge[], removed: IdentifiedRecord[]): Promise<GroupMerge[]> {
	const found = await findLinkMoves(run.type, planned, removed);
	let merges = withLinkMoves(planned, found);
	for (const { linking, moves } of found) {
		merges = await writeStep(run, step, merges, moves.filter(({ unwritable }) => !unwritable), linking);
	}
	return merges;
}

/** Reads survivors again, since others may have changed them. A merge whose survivor is gone goes no further. */
async function rereadSurvivors(
	{ type: { recordList } }: MergeRun, merges: GroupMerge[], isConcerned: (merge: GroupMerge) => boolean, reason: string,
): Promise<GroupMerge[]> {
	const read = await recordsById(recordList.api, recordList, merges.filter(isConcerned).map(({ survivor }) => survivor.id));
	return merges.map((merge) => {
		if (!isConcerned(merge)) return merge;
		const survivor = read.get(merge.survivor.id);
		return survivor ? { ...merge, survivor: { ...survivor, id: merge.survivor.id } } : { ...merge, stopped: reason };
	});
}

async function deleteLosers(run: MergeRun, planned: GroupMerge[]): Promise<GroupMerge[]> {
	let merges = planned;
	for (const areAlone of [false, true]) {
		const deletions = merges.filter(isOngoing).flatMap((merge) => deletionsOf(run, merge, areAlone));
		merges = await writeStep(run, areAlone ? 'deletions alone' : 'deletions', merges, deletions);
	}
	return merges;
}

/** @param areAlone those that an erasure of the survivor would not find in the log, unless a key names both records */
function deletionsOf({ execution: { identity }, type }: MergeRun, { survivor, losers, traced }: GroupMerge, areAlone: boolean): SharedChange[] {
	const isAlone = ({ id }: IdentifiedRecord) => type.recordList.path === '/contacts' && !traced.has(id);
	return losers.filter((loser) => isAlone(loser) === areAlone).map((record): SharedChange => {
		const deletion = areAlone && { deletion: deletionByMerge(survivor.id, record.id, identity.execution) };
		return { survivors: [survivor.id], change: { action: 'delete', record, changes: [], ...deletion } };
	});
}

async function writeUniqueValues(run: MergeRun, planned: GroupMerge[]): Promise<GroupMerge[]> {
	let merges = planned;
	for (const field of run.type.fields.filter(({ unique }) => unique)) {
		const names = [field.name, listNameOf(field)];
		// Also those that failed with an earlier value: the values of deleted records are nowhere else.
		const updates = merges.filter((merge) => isEmptied(merge) && merge.stopped !== allGone)
			.flatMap((merge) => survivorUpdate(run, merge, uniqueValues(run.type, merge), (name) => names.includes(name)));
		merges = await writeStep(run, field.name, merges, updates);
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
			const { changes, patch, unwritable } = withLinksMoved(record, each, recordList.path, (id) => {
				const survivor = ids.has(id) ? survivorOf.get(id) : undefined;
				if (survivor === undefined || (isSameType && survivor === record.id)) return undefined;
				survivors.add(survivor);
				return survivor;
			});
			return { survivors: [...survivors], change: { action: 'update', record, patch, changes }, ...(unwritable && { unwritable }) };
		});
		return { linking: each, moves: moves.filter(({ change }) => change.changes.length > 0) };
	});
}

/** The merges with the links that they move. A merge with a link that cannot be written goes no further. */
export function withLinkMoves(merges: GroupMerge[], found: LinkMoves[]): GroupMerge[] {
	const links = new Map<string, IDataObject[]>();
	const failed = new Map<string, string>();
	for (const { linking, moves } of found) {
		const collection = collectionName(linking.recordList.path);
		for (const { survivors, change: { record, changes }, unwritable } of moves) {
			const link = { collection, id: record.id, name: recordName(record) ?? null };
			for (const id of survivors) {
				getOrCreate(links, id, () => []).push(...changes.map(({ field }) => ({ ...link, field })));
				if (unwritable) getOrCreate(failed, id, () => `${collection}/${record.id} links to a duplicate in ${unwritable.label}, ${lostLink}`);
			}
		}
	}
	const withLinks = merges.map((merge) => ({ ...merge, links: [...merge.links, ...(links.get(merge.survivor.id) ?? [])] }));
	return withStops(withLinks, failed);
}

const lostLink = 'which cannot be written, so the link would be lost. Nothing more was done.';

/** Writes changes of one collection. A merge goes no further after its first change that fails. @returns the merges after them */
async function writeStep(
	run: MergeRun, step: string, merges: GroupMerge[], changes: SharedChange[],
	{ resource, recordList }: Pick<LinkingCollection, 'resource' | 'recordList'> = run.type,
): Promise<GroupMerge[]> {
	const key = { ...run.execution.identity, run: `${run.id}/${step}/${recordList.path}`, purpose: 'merge' as const };
	const planned = changes.map(({ change }, item): PlannedChange => ({ ...change, item }));
	const outcome = await applyPlan({ ...run.execution, resource, identity: key }, recordList, planned, { stopsAt: (error) => !isRefused(error) });
	const done = new Map(outcome.done.map((change) => [change.item, change]));
	const errors = new Map(outcome.failures.map(({ item, error }) => [item, error]));
	const bySurvivor = new Map(merges.map((merge) => [merge.survivor.id, merge]));
	const failed = new Map<string, string | Error>();
	for (const [i, { survivors, change }] of changes.entries()) {
		const { action, record, reason = '' } = done.get(i) ?? {};
		if (record && action !== 'conflict') {
			for (const id of survivors) bySurvivor.set(id, afterChange(bySurvivor.get(id)!, change, record));
			// The survivor of one group may link to the records of another one.
			const survived = recordList.path === run.type.recordList.path ? bySurvivor.get(record.id) : undefined;
			if (survived) bySurvivor.set(record.id, withSurvivorWritten(survived, change, record));
			continue;
		}
		const subject = `${collectionName(recordList.path)}/${change.record.id}`;
		const error = errors.get(i) ?? new Error('It was not tried, because another group failed. Run it again.');
		const refusal = isRefused(error) ? `${subject}: The CRM refused it: ${error.message}` : error;
		for (const id of survivors) getOrCreate(failed, id, () => (action === 'conflict' ? `${subject}: ${reason}` : refusal));
	}
	return withStops([...bySurvivor.values()], failed);
}

/** @param record as the CRM has it now, or had it before it was deleted */
function afterChange(merge: GroupMerge, { action, changes }: PlannedChange, record: IdentifiedRecord): GroupMerge {
	const { survivor, losers, deleted, traced, writtenFields = new Set() } = merge;
	const moved = losers.filter(({ id }) => changes.some(({ from, to }) => isLinkMoved(from, to, id, survivor.id)));
	return {
		...merge,
		writtenFields,
		traced: moved.length === 0 ? traced : new Set([...traced, ...moved.map(({ id }) => id)]),
		deleted: action === 'delete' ? [...deleted, record] : deleted,
	};
}

const withSurvivorWritten = (merge: GroupMerge, { changes }: PlannedChange, record: IdentifiedRecord): GroupMerge => ({
	...merge,
	survivor: { ...merge.survivor, ...record },
	writtenFields: merge.writtenFields && new Set([...merge.writtenFields, ...changes.map(({ field }) => field)]),
});

/** The merges, of which some go no further, with the reasons by their survivors. */
export const withStops = (merges: GroupMerge[], reasons: ReadonlyMap<string, string | Error>): GroupMerge[] =>
	merges.map((merge) => ({ ...merge, stopped: merge.stopped ?? reasons.get(merge.survivor.id) }));

const survivorGone = 'The survivor was deleted after this run read it. Nothing was deleted.';
const allGone = 'The survivor was deleted while its duplicates were: no record of the group is left. Undo this execution to restore them.';
