import type { IDataObject } from 'n8n-workflow';

import type { ListDescription } from './listing';
import type { Send } from './page';
import { pages } from './pages';
import type { Query } from './path';

/** How far a list was read: where its changes go on. */
export interface Mark {
	/** When the newest record given was changed, by the service's clock. */
	newest: string;
	/** The records given of the last minute up to then: by their id, when they were changed. */
	given: Record<string, string>;
}

export interface Changes {
	/** In the order of their changes, each once. */
	records: IDataObject[];
	/** Absent where nothing has changed. */
	mark?: Mark;
}

export interface ChangedList {
	/** Collection path with version prefix. */
	path: string;
	list: Pick<ListDescription, 'cursor' | 'pageSize'>;
	/** The field that says when a record was changed, and the parameter for the changes since. */
	changed: NonNullable<ListDescription['changed']>;
	/** Filters, fields, and the order of change, from the oldest on. */
	query: Query;
	/** How many records are wanted; all where absent. The others are changes of the next time. */
	limit?: number | undefined;
}

/**
 * Milliseconds by which a reading goes back behind the one before: a service that writes in
 * several places shows a change now and then after later ones.
 */
const overlap = 60_000;

/**
 * The records that were changed since a mark; without one, all. What was given already is not given
 * again, and what changes while it is being read is given once, as it is then.
 *
 * In the order of change, a record that changes moves on to what is still to be read: none is missed.
 *
 * @param handle what becomes of a record, done as it arrives
 */
export async function readChanges(
	send: Send,
	{ path, list, changed, query, limit = Infinity }: ChangedList,
	mark: Mark | undefined,
	handle: (record: IDataObject) => IDataObject,
): Promise<Changes> {
	const since = mark && new Date(Date.parse(mark.newest) - overlap).toISOString();
	const given = new Map(Object.entries(mark?.given ?? {}));
	const walk = { path, list, query: { ...query, [changed.since]: since } };

	const found = new Map<string, { at: string; json: IDataObject }>();
	for await (const { records } of pages(send, { ...walk, limit: limit + given.size })) {
		for (const record of records) {
			const id = String(record.id);
			const at = String(record[changed.field]);
			if (given.get(id) === at) continue;
			found.delete(id);
			found.set(id, { at, json: handle(record) });
		}
	}

	const fresh = [...found].slice(0, limit);
	const newest = fresh.at(-1)?.[1].at;
	if (newest === undefined) return { records: [] };
	const from = Date.parse(newest) - overlap;
	for (const [id, { at }] of fresh) given.set(id, at);
	const recent = [...given].filter(([, at]) => Date.parse(at) >= from);
	return {
		records: fresh.map(([, { json }]) => json),
		mark: { newest, given: Object.fromEntries(recent) },
	};
}
