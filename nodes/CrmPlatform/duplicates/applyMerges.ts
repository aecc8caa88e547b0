import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { deletionByMerge } from '../api/http/idempotency';
import { collectionName } from '../api/http/path';
import { inParallel } from '../api/inParallel';
import { isRefused } from '../api/refusals';
import { recordName } from '../api/record';
import { applyPlan } from '../changes/apply';
import type { FieldChange } from '../changes/merge';
import type { RecordChange } from '../changes/plan';
import { listNameOf } from '../fields/keys';
import { recordsById } from '../lookUp/byId';
import type { IdentifiedRecord } from '../lookUp/recordList';
import type { NodeRun } from '../model';
import type { DuplicateGroup } from './duplicateGroups';
import { isLinkMoved, recordsLinkingTo, withLinksMoved, type LinkingCollection } from './linkingRecords';
import { mergedValues, type MergedType } from './mergedValues';

/** The merge of one group: what it does, and what was done of it so far. */
export interface GroupMerge extends DuplicateGroup {
	/** The values that the survivor gets at once: those that must be unique are free when their holder is gone. */
	values: IDataObject;
	/** How the survivor changes, unique values included. */
	changes: FieldChange[];
	/** The single values of the others that it does not get. */
	notKept: IDataObject[];
	/** As outputs say them. */
	movedLinks: IDataObject[];
	/** The ids of the losers of which the log shows, by a link that moves, which record is kept. */
	traced: Set<string>;
	/** Why the rest of it was not done. */
	stopped?: string | Error;
	/** The fields that the survivor got; undefined before anything was written. */
	changedFields?: string[];
}

/** A change of a record, and the merges that need it. */
interface SharedChange {
	merges: GroupMerge[];
	change: RecordChange & { record: IdentifiedRecord };
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
 * Merges groups, all of them step by step, and notes in each merge what was done. After each step, the CRM has every value
 * and link at least once, and a further run can go on from there.
 */
export async function applyMerges(running: NodeRun, type: MergedType, merges: GroupMerge[]): Promise<void> {
	const run: NodeRun = { ...running, identity: { ...running.identity, runKey: randomUUID(), purpose: 'merge' } };
	await writeStep(run, type, 'values', merges.filter(isOngoing).flatMap((merge) => survivorUpdate(type, merge, merge.values)));
	await moveLinks(run, type, 'links', merges, merges.filter(isOngoing).flatMap(({ losers }) => losers));
	await rereadSurvivors(type, merges.filter(isOngoing), 'The survivor was deleted after this run read it. Nothing was deleted.');
	await deleteLosers(run, type, merges);
	await rereadSurvivors(type, merges.filter(isEmptied), allGone);
	await writeUniqueValues(run, type, merges);
	// Those that others have made meanwhile.
	await moveLinks(run, type, 'late', merges, merges.flatMap(({ deleted }) => deleted));
}

const isOngoing = ({ stopped }: GroupMerge): boolean => stopped === undefined;

/** Whether all losers are deleted. */
const isEmptied = ({ losers, deleted }: GroupMerge): boolean => deleted.length > 0 && losers.every((loser) => deleted.includes(loser));

/** The update that gives a survivor values, unless it has them. @param isChosen as `difference` takes it */
function survivorUpdate({ compare }: MergedType, merge: GroupMerge, values: IDataObject, isChosen?: (field: string) => boolean): SharedChange[] {
	const { changes, patch } = compare.difference(merge.survivor, values, isChosen);
	return changes.length === 0 ? [] : [{ merges: [merge], change: { action: 'update', record: merge.survivor, patch, changes } }];
}

async function moveLinks(run: NodeRun, type: MergedType, step: string, merges: GroupMerge[], removed: IdentifiedRecord[]): Promise<void> {
	for (const { linking, moves } of await planLinkMoves(type, merges, removed)) await writeStep(run, type, step, moves, linking);
}

/** Reads survivors again, since others may have changed them. A merge whose survivor is gone goes no further. */
async function rereadSurvivors({ recordList }: MergedType, merges: GroupMerge[], reason: string): Promise<void> {
	const current = await recordsById(recordList.api, recordList, merges.map(({ survivor }) => survivor.id));
	for (const merge of merges) {
		const { id } = merge.survivor;
		if (current.has(id)) merge.survivor = { ...current.get(id), id };
		else merge.stopped = reason;
	}
}

async function deleteLosers(run: NodeRun, type: MergedType, merges: GroupMerge[]): Promise<void> {
	// An erasure of the survivor finds a contact that was merged into it by a link that moved, or by a key that names both.
	const needsKey = ({ traced }: GroupMerge, { id }: IdentifiedRecord) => type.recordList.path === '/contacts' && !traced.has(id);
	for (const areAlone of [false, true]) {
		const changes = merges.filter(isOngoing).flatMap((merge) =>
			merge.losers.filter((loser) => needsKey(merge, loser) === areAlone).map((record): SharedChange => {
				const alone = areAlone && { keySubject: deletionByMerge(merge.survivor.id, record.id, run.identity.execution) };
				return { merges: [merge], change: { action: 'delete', record, changes: [], ...alone } };
			}));
		await writeStep(run, type, areAlone ? 'deletions alone' : 'deletions', changes);
	}
}

async function writeUniqueValues(run: NodeRun, type: MergedType, merges: GroupMerge[]): Promise<void> {
	for (const field of type.fields.filter(({ unique }) => unique)) {
		const names = [field.name, listNameOf(field)];
		// Also those that failed with an earlier value: the values of deleted records are nowhere else.
		const changes = merges.filter((merge) => isEmptied(merge) && merge.stopped !== allGone)
			.flatMap((merge) => survivorUpdate(type, merge, uniqueValues(type, merge), (name) => names.includes(name)));
		await writeStep(run, type, field.name, changes);
	}
}

/** The changes that move links to the survivors, except for the links of records that do not stay either. Adds the links to the merges. */
export async function planLinkMoves({ recordList, linking }: MergedType, merges: GroupMerge[], removed: IdentifiedRecord[]): Promise<LinkMoves[]> {
	const ids = new Set(removed.map(({ id }) => id));
	if (ids.size === 0) return [];
	const mergeOf = new Map(merges.flatMap((merge) => [...merge.losers, ...merge.deleted].map(({ id }) => [id, merge])));
	const linkingRecords = await inParallel(linking, async (each) => await recordsLinkingTo(each, recordList.path, [...ids]));
	return linking.map((each, i): LinkMoves => {
		const isSameType = each.recordList.path === recordList.path;
		const moves: SharedChange[] = [];
		for (const record of linkingRecords[i]!.filter(({ id }) => !(isSameType && ids.has(id)))) {
			const concerned = new Set<GroupMerge>();
			const { changes, patch } = withLinksMoved(record, each, recordList.path, (id) => {
				const merge = ids.has(id) ? mergeOf.get(id) : undefined;
				if (!merge || (isSameType && merge.survivor.id === record.id)) return undefined;
				concerned.add(merge);
				return merge.survivor.id;
			});
			if (changes.length === 0) continue;
			moves.push({ merges: [...concerned], change: { action: 'update', record, patch, changes } });
			for (const merge of concerned) addMovedLinks(merge, collectionName(each.recordList.path), record, changes);
		}
		return { linking: each, moves };
	});
}

function addMovedLinks(
	{ survivor, losers, movedLinks, traced }: GroupMerge, collection: string, record: IdentifiedRecord, changes: FieldChange[],
): void {
	for (const { field, from, to } of changes) {
		movedLinks.push({ collection, id: record.id, name: recordName(record) ?? null, field });
		for (const { id } of losers) if (isLinkMoved(from, to, id, survivor.id)) traced.add(id);
	}
}

/** Writes changes of one collection. A merge goes no further after its first change that fails. */
async function writeStep(
	run: NodeRun, type: MergedType, step: string, changes: SharedChange[],
	{ resource, recordList }: Pick<LinkingCollection, 'resource' | 'recordList'> = type,
): Promise<void> {
	const identity = { ...run.identity, runKey: `${run.identity.runKey}/${step}/${recordList.path}` };
	const planned = changes.map(({ change }, item): RecordChange => ({ ...change, item }));
	const results = await applyPlan({ ...run, resource, identity }, recordList.path, planned, { stopsAt: (error) => !isRefused(error) });
	for (const [i, { merges, change }] of changes.entries()) {
		for (const merge of merges) noteResult(merge, change, results[i], `${collectionName(recordList.path)}/${change.record.id}`);
	}
}

/** @param result of a change; undefined if it was not tried @param name of the changed record, such as `contacts/con_1` */
function noteResult(
	merge: GroupMerge, { action, record, changes }: SharedChange['change'], result: RecordChange | Error | undefined, name: string,
): void {
	if (!result || result instanceof Error || result.action === 'conflict') {
		merge.stopped ??= whyNotMade(result, name);
		return;
	}
	merge.changedFields ??= [];
	if (action === 'delete') merge.deleted.push(record);
	if (record !== merge.survivor) return;
	merge.changedFields.push(...changes.map(({ field }) => field));
	merge.survivor = { ...merge.survivor, ...result.record };
}

function whyNotMade(result: RecordChange | Error | undefined, name: string): string | Error {
	if (!result) return new Error('It was not tried, because another group failed. Run it again.');
	if (result instanceof Error) return isRefused(result) ? `${name}: The CRM refused it: ${result.message}` : result;
	return `${name}: ${result.reason ?? ''}`;
}

const allGone = 'The survivor was deleted while its duplicates were: no record of the group is left. Undo this execution to restore them.';
