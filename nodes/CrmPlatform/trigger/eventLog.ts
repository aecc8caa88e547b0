import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { parseEvent, type CrmEvent } from '../api/event';
import type { ListDescription } from '../api/openapi/listing';
import { readPages } from '../api/lists/pages';
import type { Query } from '../api/http/path';

/** The event log of the service. */
export interface EventLog {
	/** The oldest or newest event; undefined if the log is empty. */
	end(which: 'oldest' | 'newest'): Promise<CrmEvent | undefined>;
	/** The first event at this instant (RFC 3339) or later. */
	firstSince(instant: string): Promise<CrmEvent | undefined>;
	/** The events of these types and patterns above a sequence, in sequence. */
	after(sequence: number, types: string[]): AsyncGenerator<CrmEvent, void>;
	/** The events of these types and patterns, the newest first. */
	newestFirst(types: string[]): AsyncGenerator<CrmEvent, void>;
}

const logPath = '/events';
/** Filters the log must accept, apart from the cursor. */
const logFilters = { above: 'sequence[gt]', since: 'created_at[gte]', types: 'type' };
const orders = { oldest: 'sequence', newest: '-sequence' };

/** @throws Error in the user's words where the service has no log that can be read like this */
export async function openEventLog(api: Connection): Promise<EventLog> {
	const list = readable((await api.describe(logPath))?.list);

	async function* read(query: Query, limit = Infinity): AsyncGenerator<CrmEvent, void> {
		for await (const { records } of readPages(api.send, { path: `/v1${logPath}`, list, query, limit })) {
			for (const record of records) yield eventIn(record);
		}
	}

	const inSequence = { [list.sort.name]: orders.oldest };

	const first = async (query: Query): Promise<CrmEvent | undefined> => {
		const { value } = await read(query, 1).next();
		return value ?? undefined;
	};

	return {
		end: async (which) => await first({ [list.sort.name]: orders[which] }),
		firstSince: async (instant) => await first({ ...inSequence, [logFilters.since]: instant }),
		after: (sequence, types) => read({ ...inSequence, [logFilters.above]: sequence, [logFilters.types]: types }),
		newestFirst: (types) => read({ [list.sort.name]: orders.newest, [logFilters.types]: types }),
	};
}

type SortedList = ListDescription & Required<Pick<ListDescription, 'sort'>>;

function readable(list: ListDescription | undefined): SortedList {
	const sort = list?.sort;
	const names = list?.filters.map(({ name }) => name) ?? [];
	if (
		list &&
		sort &&
		Object.values(orders).every((order) => sort.values.includes(order)) &&
		Object.values(logFilters).every((filter) => names.includes(filter))
	) {
		return { ...list, sort };
	}
	throw new Error(
		'The service has no event log that can be polled. Use the CRM Platform Trigger instead.',
	);
}

function eventIn(record: IDataObject): CrmEvent {
	const event = parseEvent(record);
	if (event) return event;
	const excerpt = JSON.stringify(record).slice(0, 120);
	throw new Error(`The event log of the service contains an invalid entry: ${excerpt}`);
}
