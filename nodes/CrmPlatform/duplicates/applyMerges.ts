import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { deletionByMerge } from '../api/http/idempotency';
import { collectionName } from '../api/http/path';
import { inParallel } from '../api/inParallel';
import { isRefused, recordName } from '../api/record';
import { applyPlan } from '../changes/apply';
import type { Change, Difference } from '../changes/merge';
import type { PlannedChange } from '../changes/plan';
import type { Field } from '../fields/field';
import { listNameOf } from '../fields/keys';
import { recordsById, type IdentifiedRecord, type RecordList } from '../lookUp/lookUp';
import type { Execution } from '../model';
import { versionOf } from '../writing/replace';
import type { DuplicateGroup } from './groups';
import { isLinkMoved, recordsLinkingTo, withLinksMoved, type LinkingCollection } from './linkingRecords';
import { mergedValues, type MergedType } from './mergedValues';

/** The merge of one group: what is planned, and what was done of it. */
export interface GroupMerge extends DuplicateGroup {
	/** The values that the survivor gets at once: those that must be unique are free when their holder is gone. */
	values: IDataObject;
	/** How the survivor changes, unique values included. */
	changes: Change[];
	/** The single values of the others that it does not get. */
	notKept: Array<{ field: string; id: string; value: unknown }>;
	/** The links that move. */
	links: IDataObject[];
	/** Why the rest of it was not done. */
	stopped?: string | Error;
	/** The fields that the survivor got; undefined before anything was written. */
	writtenFields?: Set<string>;
	/** The losers of which the log shows, by a link that moved, which record is kept. */
	traced: Set<string>;
}

/** A change of a record, and the merges that need it. */
interface Step {
	merges: GroupMerge[];
	change: PlannedChange;
}

/** Why merges were not done to the end. */
type Failed = Map<GroupMerge, string | Error>;

/** What all steps of a run share. */
interface MergeRun {
	execution: Execution;
	type: MergedType;
	merges: GroupMerge[];
	bySurvivor: ReadonlyMap<string, GroupMerge>;
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
export async function applyMerges(execution: Execution, type: MergedType, merges: GroupMerge[]): Promise<void> {
	const bySurvivor = new Map(merges.map((merge) => [merge.survivor.id, merge]));
	const run: MergeRun = { execution, type, merges, bySurvivor, id: randomUUID() };
	const going = () => merges.filter(({ stopped }) => stopped === undefined);

	const updates = going().flatMap((merge) => survivorUpdate(merge, type.compare.difference(merge.survivor, merge.values)));
	stop(await write(run, 'values', type, updates));
	await moveLinks(run, 'links', going().flatMap(({ losers }) => losers));
	await readSurvivors(type, going(), survivorGone);
	for (const areAlone of [false, true]) {
		const deletions = going().flatMap((merge) => deletionsOf(run, merge, areAlone));
		stop(await write(run, areAlone ? 'deletions alone' : 'deletions', type, deletions));
	}
	const emptied = merges.filter(({ losers, deleted }) => deleted.length > 0 && losers.every((loser) => deleted.includes(loser)));
	await readSurvivors(type, emptied, allGone);
	for (const field of type.fields.filter(({ unique }) => unique)) await moveUniqueValue(run, field, emptied);
	await moveLinks(run, 'late', merges.flatMap(({ deleted }) => deleted));
}

/** @param areAlone those that an erasure of the survivor would not find in the log, unless a key names both records */
function deletionsOf({ execution: { identity }, type }: MergeRun, merge: GroupMerge, areAlone: boolean): Step[] {
	const isAlone = ({ id }: IdentifiedRecord) => type.recordList.path === '/contacts' && !merge.traced.has(id);
	return merge.losers.filter((loser) => isAlone(loser) === areAlone).map((record): Step => {
		const deletion = areAlone && { deletion: deletionByMerge(merge.survivor.id, record.id, identity.execution) };
		return { merges: [merge], change: { action: 'delete', record, changes: [], ...deletion } };
	});
}

const survivorUpdate = (merge: GroupMerge, { changes, patch }: Difference): Step[] =>
	(changes.length === 0 ? [] : [{ merges: [merge], change: { action: 'update', record: merge.survivor, patch, changes } }]);

/**
 * Reads the survivors again: a merge whose survivor is gone goes no further.
 *
 * @param areStale whether others may have changed them, which without versions goes unnoticed
 */
async function readSurvivors(
	{ recordList }: MergedType,
	merges: GroupMerge[],
	reason: string,
	areStale = merges.some(({ survivor }) => versionOf(survivor) === undefined),
): Promise<void> {
	const ids = merges.map(({ survivor }) => survivor.id);
	const read = await recordsById(recordList.api, { ...recordList, fields: areStale ? recordList.fields : [] }, ids);
	for (const merge of merges) {
		const record = read.get(merge.survivor.id);
		if (!record) merge.stopped = reason;
		else if (areStale) merge.survivor = { ...record, id: merge.survivor.id };
	}
}

/** Tries again what others have prevented by changing a survivor: the values of deleted records are nowhere else. */
async function moveUniqueValue(run: MergeRun, field: Field, merges: GroupMerge[]): Promise<void> {
	const { type } = run;
	const names = [field.name, listNameOf(field)];
	let left = merges;
	let failed: Failed = new Map();
	for (let attempt = 1; attempt <= maxAttempts && left.length > 0; attempt++) {
		if (attempt > 1) await readSurvivors(type, left, allGone, true);
		// Also those whose survivor was found gone with an earlier value are left out.
		const steps = left.filter(({ stopped }) => stopped !== allGone).flatMap((merge) => {
			const difference = type.compare.difference(merge.survivor, uniqueValues(type, merge), (name) => names.includes(name));
			return survivorUpdate(merge, difference);
		});
		failed = await write(run, `${field.name}/${attempt}`, type, steps);
		left = [...failed.keys()];
	}
	stop(failed);
}

async function moveLinks(run: MergeRun, step: string, removed: IdentifiedRecord[]): Promise<void> {
	for (const [linking, steps] of await planLinkMoves(run.type, run.merges, removed)) stop(await write(run, step, linking, steps));
}

/**
 * Finds the links to records that do not stay, except for those of records that do not stay either, and adds them to their
 * merges. A merge with a link that cannot be written goes no further.
 */
export async function planLinkMoves(
	{ recordList, linking }: MergedType,
	merges: GroupMerge[],
	removed: IdentifiedRecord[],
): Promise<Array<[LinkingCollection, Step[]]>> {
	const ids = new Set(removed.map(({ id }) => id));
	if (ids.size === 0) return [];
	const mergeOf = new Map(merges.flatMap((merge) => [...merge.losers, ...merge.deleted].map(({ id }) => [id, merge])));
	const read = await inParallel(linking, async (each) => await recordsLinkingTo(each, recordList.path, [...ids]));
	return linking.map((each, i): [LinkingCollection, Step[]] => {
		const isSameType = each.recordList.path === recordList.path;
		const staying = read[i]!.filter(({ id }) => !(isSameType && ids.has(id)));
		const steps = staying.flatMap((record): Step[] => {
			const moved = new Set<GroupMerge>();
			const { changes, patch, unwritable } = withLinksMoved(record, each, recordList.path, (id) => {
				const merge = ids.has(id) ? mergeOf.get(id) : undefined;
				if (!merge || (isSameType && merge.survivor.id === record.id)) return undefined;
				moved.add(merge);
				return merge.survivor.id;
			});
			if (changes.length === 0) return [];
			const link = { collection: collectionName(each.recordList.path), id: record.id, name: recordName(record) ?? null };
			for (const { links } of moved) links.push(...changes.map(({ field }) => ({ ...link, field })));
			if (!unwritable) return [{ merges: [...moved], change: { action: 'update', record, patch, changes } }];
			const lost = `${link.collection}/${link.id} links to a duplicate in ${unwritable.label}, which cannot be written, so the link would be lost.`;
			for (const merge of moved) merge.stopped ??= `${lost} Nothing more was done.`;
			return [];
		});
		return [each, steps];
	});
}

/**
 * Makes changes of one collection, and notes them in their merges.
 *
 * @returns the merges of which a change was not made, and why
 */
async function write(
	run: MergeRun,
	step: string,
	{ resource, recordList }: Pick<LinkingCollection, 'resource' | 'recordList'>,
	steps: Step[],
): Promise<Failed> {
	const { identity } = run.execution;
	const key = { ...identity, run: `${run.id}/${step}/${recordList.path}`, purpose: 'merge' as const };
	const planned = steps.map(({ change }, item): PlannedChange => ({ ...change, item }));
	const execution = { ...run.execution, resource, identity: key };
	const outcome = await applyPlan(execution, recordList, planned, { stopsAt: (error) => !isRefused(error) });
	const done = new Map(outcome.done.map((change) => [change.item, change]));
	const errors = new Map(outcome.failures.map(({ item, error }) => [item, error]));
	const failed: Failed = new Map();
	for (const [i, { merges, change }] of steps.entries()) {
		const { action, record, reason = '' } = done.get(i) ?? {};
		if (record && action !== 'conflict') {
			noteOutcome(run, recordList, { merges, change }, record);
			continue;
		}
		const error = errors.get(i) ?? new Error('It was not tried, because another group failed. Run it again.');
		const subject = `${collectionName(recordList.path)}/${String(change.record!.id)}`;
		const refusal = isRefused(error) ? `${subject}: The CRM refused it: ${error.message}` : error;
		for (const merge of merges) if (!failed.has(merge)) failed.set(merge, action === 'conflict' ? `${subject}: ${reason}` : refusal);
	}
	return failed;
}

/** @param record as the CRM has it now, or had it before it was deleted */
function noteOutcome(run: MergeRun, { path }: RecordList, { merges, change: { action, changes } }: Step, record: IdentifiedRecord): void {
	for (const merge of merges) {
		merge.writtenFields ??= new Set();
		for (const { id } of merge.losers) {
			if (changes.some(({ from, to }) => isLinkMoved(from, to, id, merge.survivor.id))) merge.traced.add(id);
		}
		if (action === 'delete') merge.deleted.push(record);
	}
	// The survivor of one group may link to the records of another one.
	const survived = path === run.type.recordList.path ? run.bySurvivor.get(record.id) : undefined;
	if (!survived) return;
	survived.survivor = { ...survived.survivor, ...record };
	for (const { field } of changes) survived.writtenFields?.add(field);
}

function stop(failed: Failed): void {
	for (const [merge, reason] of failed) merge.stopped ??= reason;
}

const maxAttempts = 3;
const survivorGone = 'The survivor was deleted after this run read it. Nothing was deleted.';
const allGone = 'The survivor was deleted while its duplicates were: no record of the group is left. Undo this execution to restore them.';
