import type { IDataObject } from 'n8n-workflow';

import { collectionName } from '../api/http/path';
import { recordName } from '../api/record';
import { getOrCreate } from '../base/maps';
import type { Change } from '../changes/merge';
import type { PlannedChange } from '../changes/plan';
import type { IdentifiedRecord } from '../lookUp/lookUp';
import type { DuplicateGroup } from './groups';
import { isLinkMoved, type LinkingCollection, type withLinksMoved } from './linkingRecords';

/** The merge of one group: what it does, and what was done of it so far. The id of its survivor identifies it. */
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
	stopped: string | Error | undefined;
	/** The fields that the survivor got; undefined before anything was written. */
	writtenFields: ReadonlySet<string> | undefined;
	/** The losers of which the log shows, by a link that moved, which record is kept. */
	traced: ReadonlySet<string>;
}

/** A change of a record, and the merges that need it. */
export interface MergeStep {
	survivors: string[];
	change: PlannedChange;
}

/** Why merges were not done to the end. */
export type FailedMerges = ReadonlyMap<string, string | Error>;

/** A step, and what became of it. */
export interface StepOutcome extends MergeStep {
	/** As the CRM has it now, or had it before it was deleted; undefined if the step failed. */
	record: IdentifiedRecord | undefined;
	failure: string | Error | undefined;
}

/** How the links of a record change, and the merges that move them. */
export interface LinkMove extends ReturnType<typeof withLinksMoved> {
	record: IdentifiedRecord;
	survivors: string[];
}

/** The links of a collection that move. */
export interface LinkMoves {
	linking: LinkingCollection;
	moves: LinkMove[];
}

/** The merges with the links that they move. A merge with a link that cannot be written goes no further. */
export function withLinkMoves(merges: GroupMerge[], found: LinkMoves[]): GroupMerge[] {
	const links = new Map<string, IDataObject[]>();
	const failed = new Map<string, string>();
	for (const { linking, moves } of found) {
		const collection = collectionName(linking.recordList.path);
		for (const { record, survivors, changes, unwritable } of moves) {
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

/** The first failure of each merge. */
export function failuresOf(outcomes: StepOutcome[]): FailedMerges {
	const failures = new Map<string, string | Error>();
	for (const { survivors, failure } of outcomes) {
		if (failure !== undefined) for (const id of survivors) getOrCreate(failures, id, () => failure);
	}
	return failures;
}

/** The merges with what was written of them. @param ofSurvivors whether to the collection of the survivors */
export function afterWrites(merges: GroupMerge[], ofSurvivors: boolean, outcomes: StepOutcome[]): GroupMerge[] {
	const bySurvivor = new Map(merges.map((merge) => [merge.survivor.id, merge]));
	for (const { survivors, change, record } of outcomes) {
		if (!record) continue;
		for (const id of survivors) bySurvivor.set(id, afterStep(bySurvivor.get(id)!, change, record));
		// The survivor of one group may link to the records of another one.
		const survived = ofSurvivors ? bySurvivor.get(record.id) : undefined;
		if (survived) bySurvivor.set(record.id, withSurvivorWritten(survived, change, record));
	}
	return [...bySurvivor.values()];
}

function afterStep(merge: GroupMerge, { action, changes }: PlannedChange, record: IdentifiedRecord): GroupMerge {
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

/** The merges, of which some go no further. */
export const withStops = (merges: GroupMerge[], reasons: FailedMerges): GroupMerge[] =>
	merges.map((merge) => ({ ...merge, stopped: merge.stopped ?? reasons.get(merge.survivor.id) }));
