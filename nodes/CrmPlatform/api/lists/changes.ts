import type { IDataObject } from 'n8n-workflow';

import type { ListDescription } from '../openapi/listing';
import { hashOf, nextWatermark, versionOf, type Watermark, type Version } from './watermark';
import type { Send } from './page';
import { readPages } from './pages';
import type { Query } from '../http/path';

export interface Changes {
	/** In the order of their changes, each once. */
	records: IDataObject[];
	/** Absent where the one before still holds. */
	mark?: Watermark;
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
 * The records that were changed since a mark; without one, all. What was given already is not given
 * again, and what changes while it is being read is given once, as it is then.
 *
 * In the order of change, a record that changes moves on to what is still to be read: none is missed.
 *
 * @param handle what becomes of a record, done as it arrives
 * @param now this machine's clock in Unix epoch milliseconds, for how long the reading takes
 * @throws Error in the user's words where records do not say which they are, or when they changed
 */
export async function readChanges(
	send: Send,
	{ path, list, changed, query, limit = Infinity }: ChangedList,
	mark: Watermark | undefined,
	handle: (record: IDataObject) => IDataObject,
	now = Date.now,
): Promise<Changes> {
	const since = mark && new Date(mark.since).toISOString();
	const given = new Set(Object.keys(mark?.given ?? {}));
	const most = limit + given.size;
	const walk = { path, list, query: { ...query, [changed.since]: since }, limit: most };

	const began = now();
	let date = NaN;
	const dated: Send = async (request) => {
		const response = await send(request);
		date = Date.parse(response.headers.date ?? '');
		return response;
	};

	let count = 0;
	const found = new Map<string, { version: Version; json: IDataObject }>();
	for await (const { records } of readPages(dated, walk)) {
		count += records.length;
		for (const record of records) {
			const version = versionOf(record, changed.field);
			if (!version) throw new Error(indistinct(path, changed.field));
			if (given.size > 0 && given.has(hashOf(version))) continue;
			found.delete(version.id);
			found.set(version.id, { version, json: handle(record) });
		}
	}

	const fresh = [...found.values()].slice(0, limit);
	const after = nextWatermark(mark, {
		fresh: fresh.map(({ version }) => version),
		isWhole: count < most && found.size <= limit,
		took: Math.max(0, now() - began),
		date,
	});
	return { records: fresh.map(({ json }) => json), ...(after && { mark: after }) };
}

const indistinct = (path: string, field: string) =>
	`The service gave records of ${path} without id or ${field}, so it cannot be told which have changed. Set Changed Since to Moment.`;
