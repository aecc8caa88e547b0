import { createHash } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

/** How far a list was read: where its changes go on. n8n keeps it as JSON. */
export interface Watermark {
	/**
	 * What was changed before has all been given. Unix epoch milliseconds, by the clock that the
	 * service stamps changes with.
	 */
	since: number;
	/** What has been given of the changes after that: by a hash of the version, when it was changed. */
	given: Record<string, number>;
	/** By how many milliseconds that clock is ahead, at least, of the one in the header Date. */
	ahead?: number;
}

/** A record as it was after one of its changes. */
export interface Version {
	id: string;
	/** When it was changed, as the service says it. */
	changed: string;
	/** The same in Unix epoch milliseconds. */
	at: number;
}

/** One reading of the changes, from the oldest on. */
export interface Walk {
	/** What had not been given before, in the order of change. */
	fresh: Version[];
	/** Whether these are all there are. */
	isWhole: boolean;
	/** Milliseconds from its first request to its last answer. */
	took: number;
	/** The header Date of its last answer, in Unix epoch milliseconds; NaN where there was none. */
	date: number;
}

/**
 * Milliseconds after which a change is seen by every reading: a service that writes in several
 * places shows one now and then after later ones, and their clocks differ a little.
 */
const overlap = 60_000;

/** The header Date is in whole seconds (RFC 9110 section 5.6.7). */
const resolution = 1_000;

/** @returns undefined where the record does not say which it is, or when it was changed */
export function versionOf(record: IDataObject, changedField: string): Version | undefined {
	const { id, [changedField]: changed } = record;
	const at = Date.parse(String(changed));
	if ((typeof id !== 'string' && typeof id !== 'number') || Number.isNaN(at)) return undefined;
	return { id: String(id), changed: String(changed), at };
}

/** Short, since a bulk change leaves many; of 66 bits, so that no two are the same. */
export function hashOf({ id, changed }: Version): string {
	return createHash('sha256').update(`${id} ${changed}`).digest('base64url').slice(0, 11);
}

/**
 * The mark after a reading.
 *
 * All that was changed an overlap before the reading began has been read. When that was by the clock
 * of the changes nobody says, but it ended no earlier than the newest change it found, and began as
 * much before as it took. Where nothing is new, the header Date tells how much later it is than when
 * that change was found: a difference, to which it does not matter how wrong the clock is.
 *
 * @returns undefined where the mark stays as it is
 */
export function nextWatermark(mark: Watermark | undefined, walk: Walk): Watermark | undefined {
	const { fresh, isWhole, took, date } = walk;
	const newest = fresh.at(-1)?.at ?? -Infinity;
	const told = isWhole ? date + (mark?.ahead ?? NaN) : NaN;
	const ended = Number.isNaN(told) ? newest : Math.max(newest, told);
	const since = Math.max(ended - took - overlap, mark?.since ?? -Infinity);

	const before = Object.entries(mark?.given ?? {});
	const left = before.filter(([, at]) => at >= since);
	// A mark that says no more than the one before would be written to n8n's database for nothing.
	if (fresh.length === 0 && left.length === before.length) return undefined;
	const given = Object.fromEntries(left);
	for (const version of fresh) if (version.at >= since) given[hashOf(version)] = version.at;
	const ahead = fresh.length === 0 ? mark?.ahead : newest - date - resolution;
	return { since, given, ...(ahead !== undefined && !Number.isNaN(ahead) && { ahead }) };
}
