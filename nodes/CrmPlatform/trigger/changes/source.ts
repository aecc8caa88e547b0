import { createHash } from 'node:crypto';

import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { chunks } from '../../api/batch';
import type { Connection } from '../../api/connection';
import type { CrmEvent } from '../../api/event';
import type { EventChoice } from '../eventProperties';
import type { EventLog } from '../eventLog';
import { noOrigin, tellsOrigin } from '../origin';
import { eventOutput } from '../output';
import { advance, firstSequenceToRead, logEnds, matchesCriteria, restartAt, type Group, type Position } from './position';
import type { RecordReader } from './records';

/** What groups are made of, and how many. */
export interface SourceOptions {
	/** The most events or records in a group. */
	size: number;
	/** Absent for events. */
	records?: RecordReader | undefined;
	output: EventChoice['output'];
	criteria: Position['criteria'];
}

/** So many events are looked at in one reading, filtered ones included. */
const mostRead = 10_000;

/** Records of a backfill that are read at once; constant, as some services bind a cursor to the size of its page. */
const backfillPage = 100;

/** Reads new groups from the service, and the items of groups that are open. */
export class ChangeSource {
	/** Events of open groups, so that a group just read is not read again. */
	private readonly cache = new Map<string, CrmEvent>();
	/** Items of groups of a backfill, by name, for the same reason. What changes meanwhile, an event tells later. */
	private readonly pages = new Map<string, IDataObject[]>();

	private readonly api: Connection;
	private readonly log: EventLog;
	private readonly options: SourceOptions;

	constructor(api: Connection, log: EventLog, options: SourceOptions) {
		this.api = api;
		this.log = log;
		this.options = options;
	}

	/**
	 * Reads groups, opens them and moves the position past them, both at once: the position may be stored
	 * at any time.
	 *
	 * @param most how many groups are wanted
	 * @param isCancelled whether the reading is no longer wanted; the position then stays
	 */
	async read(position: Position, most: number, now: number, isCancelled: () => boolean): Promise<Group[]> {
		const { records } = this.options;
		if (position.backfill && records) {
			const page = await records.page(position.backfill.cursor, Math.max(this.options.size, backfillPage));
			if (isCancelled()) return [];
			position.backfill = page.next === undefined ? undefined : { cursor: page.next };
			const groups = chunks(page.records, this.options.size).map((part) => {
				const ids = part.map(({ id }) => String(id));
				const group = groupOf('records', ids, ids, 0);
				this.pages.set(group.name, records.asExisting(part));
				return group;
			});
			position.open.push(...groups);
			return groups;
		}
		// Records of a backfill come before the changes that follow it.
		if (position.open.some(({ kind }) => kind === 'records')) return [];

		const found: CrmEvent[] = [];
		const read: Record<string, number> = {};
		let { sequence: upTo } = position;
		let looked = 0;
		for await (const event of this.log.after(firstSequenceToRead(position), this.options.criteria.events)) {
			if (event.id in position.seen) continue;
			read[event.id] = event.sequence;
			if (!tellsOrigin(event) && this.options.criteria.filter.ignored?.keys.length) this.api.notices.add(noOrigin);
			if (matchesCriteria(position, event)) found.push(event);
			upTo = Math.max(upTo, event.sequence);
			looked += 1;
			if (found.length >= most * this.options.size || looked >= mostRead) break;
		}
		const newest = looked === 0 ? await this.log.end('newest') : undefined;
		if (isCancelled()) return [];
		if (newest && newest.sequence < position.sequence) {
			restartAt(position, newest.sequence);
			throw new Error(logEnds(position.at));
		}
		advance(position, read, upTo, now);
		for (const event of found) this.cache.set(event.id, event);
		const groups = chunks(found, this.options.size).map((part) =>
			groupOf(
				'events',
				part.map(({ id }) => id),
				[...new Set(part.map(({ data }) => String(data.object.id)))],
				Math.min(...part.map(({ sequence }) => sequence)) - 1,
			),
		);
		position.open.push(...groups);
		return groups;
	}

	/** The items of a group; fewer where records are gone or no longer pass the filters. */
	async load(group: Group): Promise<INodeExecutionData[]> {
		const { records, output } = this.options;
		if (group.kind === 'records') {
			const known = this.pages.get(group.name);
			this.pages.delete(group.name);
			return items(known ?? (await records?.existing(group.ids)) ?? []);
		}
		const events = await this.events(group);
		for (const { id } of events) this.cache.delete(id);
		if (records) return items(await records.changed(events));
		return items(await Promise.all(events.map(async (event) => await eventOutput(event, output, async () => this.api))));
	}

	private async events({ ids, after }: Group): Promise<CrmEvent[]> {
		const wanted = new Set(ids);
		const known = ids.flatMap((id) => this.cache.get(id) ?? []);
		if (known.length === ids.length) return known;
		const found: CrmEvent[] = [];
		for await (const event of this.log.after(after, this.options.criteria.events)) {
			if (wanted.has(event.id)) found.push(event);
			if (found.length === ids.length || event.sequence > after + mostRead) break;
		}
		return found;
	}
}

const items = (found: IDataObject[]): INodeExecutionData[] => found.map((json) => ({ json }));

function groupOf(kind: Group['kind'], ids: string[], records: string[], after: number): Group {
	const [first = ''] = ids;
	const hash = () => createHash('sha256').update(ids.join()).digest('base64url').slice(0, 22);
	const isShort = ids.length === 1 && first.length <= 64;
	return { name: `${kind}:${isShort ? first : hash()}`, attempt: 1, kind, ids, records, after };
}
