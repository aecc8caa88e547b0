import { NodeApiError, type IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import { breaksRule, ruleNumber } from '../api/http/rules';
import type { Connection } from '../api/connection';
import { matchesEventPattern, parseEvent, type CrmEvent } from './crmEvent';
import { isAnsweredWith } from '../api/refusals';
import type { Query } from '../api/http/path';
import { readPages } from '../api/lists/pages';
import type { ListDescription } from '../api/openapi/listing';

/** Identifies an event. The id alone is not enough: a restored service may reuse ids. */
export const eventIdentity = ({ id, timestamp }: Pick<CrmEvent, 'id' | 'timestamp'>): string => `${id} ${timestamp}`;

const logPath = '/events';
/** Filters the log must accept, apart from the cursor. */
const logFilters = { above: 'sequence[gt]', since: 'created_at[gte]', types: 'type' };
const orders = { oldest: 'sequence', newest: '-sequence' };

const newestSchema = z.object({
	id: z.string().min(1),
	timestamp: z.string(),
	sequence: z.number().int(),
	/** Empty if the service does not name the account of the log. */
	account_id: z.string().catch(''),
});
const causeSchema = z.object({ type: z.string(), timestamp: z.string(), actor: z.unknown(), request: z.unknown() });

export type EventLog = Awaited<ReturnType<typeof openEventLog>>;

/** The newest event of the log, of any type. */
export type Newest = NonNullable<Awaited<ReturnType<typeof newestIn>>>;

export const hasEventLog = async (api: Connection): Promise<boolean> => (await api.describe(logPath))?.list !== undefined;

/**
 * @param report tells the user, once, that the service refuses chosen types
 * @throws Error in the user's words if the service describes no log, or none that can be read in sequence
 */
export async function openEventLog(api: Connection, report = (message: string): void => void api.notices.add(message)) {
	const list = readable((await api.describe(logPath))?.list);
	const log: OpenLog = { send: api.send, list, refusedTypes: new Set(), report };
	const inSequence: Query = { [list.sort.name]: orders.oldest };
	const byNewest: Query = { [list.sort.name]: orders.newest };
	return {
		/** The newest event, in few bytes; undefined if the log is empty. */
		newest: async (): Promise<Newest | undefined> => await newestIn(log, byNewest),

		/** The oldest event; undefined if the log is empty. */
		oldest: async (): Promise<CrmEvent | undefined> => await firstOf(allEvents(log, inSequence, 2)),

		/** The first event at this instant (RFC 3339) or later. */
		firstSince: async (instant: string): Promise<CrmEvent | undefined> =>
			await firstOf(allEvents(log, { ...inSequence, [logFilters.since]: instant }, 2)),

		/**
		 * The events above a sequence, in sequence: of these types and patterns, or of all types if there are none.
		 *
		 * @param limit of the events that are read: of any type, if the service refuses these
		 */
		after: (sequence: number, types: string[], limit?: number): AsyncGenerator<CrmEvent, void> =>
			eventsOf(log, types, { ...inSequence, [logFilters.above]: sequence }, limit),

		/**
		 * All events above a sequence, in sequence, read with several requests at a time.
		 *
		 * @throws Error in the user's words if the service returns them in another order, or two with one sequence
		 */
		allAfter(sequence: number): AsyncGenerator<CrmEvent, void> {
			const pageSize = list.pageSize?.maximum ?? 0;
			const after = (above: number, limit?: number) => allEvents(log, { ...inSequence, [logFilters.above]: above }, limit);
			if (pageSize < 1) return ascending(after(sequence));
			return ascending(readInRanges({ pageSize, after, newest: async () => (await newestIn(log, byNewest))?.sequence }, sequence));
		},

		/** The events of these types and patterns, newest first. */
		newestFirst: (types: string[]): AsyncGenerator<CrmEvent, void> => eventsOf(log, types, byNewest),

		/** Who caused the newest events, newest first, in few bytes. */
		newestCauses: (limit: number) => membersOf(log, causeSchema, byNewest, limit),
	};
}

interface OpenLog {
	send: Connection['send'];
	list: SortedList;
	/** Combinations of types that the service has refused. */
	refusedTypes: Set<string>;
	report: (message: string) => void;
}

async function* entriesOf({ send, list }: OpenLog, query: Query, limit = Infinity): AsyncGenerator<IDataObject, void> {
	for await (const page of readPages(send, { path: logPath, list, query, limit, isFixed: true })) yield* page.records;
}

async function* allEvents(log: OpenLog, query: Query, limit?: number): AsyncGenerator<CrmEvent, void> {
	for await (const entry of entriesOf(log, query, limit)) yield parseEvent(entry) ?? invalidEntry(entry);
}

/** The members of events that a schema names, in few bytes. */
async function* membersOf<Shape extends z.ZodRawShape>(
	log: OpenLog, schema: z.ZodObject<Shape>, query: Query, limit: number,
): AsyncGenerator<z.output<z.ZodObject<Shape>>, void> {
	const { fields } = log.list;
	const onlyMembers = fields === undefined ? {} : { [fields]: Object.keys(schema.shape) };
	for await (const entry of entriesOf(log, { ...query, ...onlyMembers }, limit)) yield schema.safeParse(entry).data ?? invalidEntry(entry);
}

async function newestIn(log: OpenLog, byNewest: Query) {
	const { value } = await membersOf(log, newestSchema, byNewest, 1).next();
	return value ? { identity: eventIdentity(value), timestamp: value.timestamp, sequence: value.sequence, account: value.account_id } : undefined;
}

/** A service refuses types that it no longer has or the user may not see, although the log may have such events: then all are read and filtered. */
async function* eventsOf(log: OpenLog, types: string[], query: Query, limit?: number): AsyncGenerator<CrmEvent, void> {
	const all = allEvents(log, query, limit);
	if (types.length === 0) return yield* all;
	const isChosen = ({ type }: CrmEvent) => types.some((pattern) => matchesEventPattern(pattern, type));
	if (!log.refusedTypes.has(types.join())) {
		const chosen = allEvents(log, { ...query, [logFilters.types]: types }, limit);
		const firstChosen = await chosen.next().catch((error: unknown) => {
			if (isAnsweredWith(error, 400, 403)) return error;
			throw error;
		});
		if (!(firstChosen instanceof NodeApiError)) {
			if (firstChosen.value) yield firstChosen.value;
			return yield* chosen;
		}
		// If the service refuses the whole log, this fails.
		const first = await all.next();
		log.refusedTypes.add(types.join());
		log.report(typesRefused(types, firstChosen));
		if (first.value && isChosen(first.value)) yield first.value;
	}
	for await (const event of all) if (isChosen(event)) yield event;
}

/** The first of two events. The second one shows whether the service sorts: the newest event may be the only one, or just the first. */
async function firstOf(events: AsyncGenerator<CrmEvent, void>): Promise<CrmEvent | undefined> {
	const both: CrmEvent[] = [];
	for await (const event of ascending(events)) both.push(event);
	return both[0];
}

async function* ascending(events: AsyncGenerator<CrmEvent, void>): AsyncGenerator<CrmEvent, void> {
	let last = -Infinity;
	for await (const event of events) {
		if (event.sequence <= last) throw new Error(unordered);
		last = event.sequence;
		yield event;
	}
}

const unordered =
	`The event log of the CRM is not in sequence, so the order of the changes is unknown. ${breaksRule(15)} Report this to the CRM’s support.`;

const typesRefused = (types: string[], { message, description }: NodeApiError): string =>
	`The CRM refuses at least one of the event types ${types.join(', ')}: ${description ?? message} Instead, the trigger reads events of all types and selects the chosen ones. If a type no longer exists, remove it from Events. If the credential has lost permission to read one, events of that type start no workflow until the permission is restored.`;

type SortedList = ListDescription & Required<Pick<ListDescription, 'sort'>>;

function readable(list: ListDescription | undefined): SortedList {
	const sort = list?.sort;
	const names = list?.filters.map(({ name }) => name) ?? [];
	const isInSequence = Object.values(orders).every((order) => sort?.values.includes(order));
	if (list && sort && isInSequence && Object.values(logFilters).every((filter) => names.includes(filter))) return { ...list, sort };
	throw new Error(
		`The CRM has no event log that can be read in sequence (${ruleNumber(15)}). To start workflows, use the CRM Platform Trigger instead.`,
	);
}

function invalidEntry(entry: IDataObject): never {
	const excerpt = JSON.stringify(entry).slice(0, 120);
	throw new Error(`The event log of the CRM contains an invalid entry: ${excerpt}. ${breaksRule(15)} Please report this to the CRM’s support.`);
}

/** A log, as far as reading it in ranges needs it. */
interface PagedLog {
	/** Maximum events in one response. */
	pageSize: number;
	after(sequence: number, limit?: number): AsyncGenerator<CrmEvent, void>;
	/** The sequence of the newest event. */
	newest(): Promise<number | undefined>;
}

const rangesAtOnce = 6;

/**
 * The events above a sequence, in sequence. A long log is read in ranges of about a page, a few at the same time.
 *
 * @throws Error in the user's words if the log ends before its newest event, as on a lagging replica
 */
export async function* readInRanges(log: PagedLog, sequence: number): AsyncGenerator<CrmEvent, void> {
	const first: CrmEvent[] = [];
	for await (const event of log.after(sequence, log.pageSize)) first.push(event);
	yield* first;
	if (first.length < log.pageSize) return;
	const begin = first.at(-1)!.sequence;
	// Where the log begins may be far above the sequence.
	const width = begin - first[0]!.sequence + 1;
	const end = (await log.newest()) ?? begin;
	const running: Array<Promise<CrmEvent[]>> = [];
	for (let above = begin; above < end || running.length > 0; above += width) {
		const events = above >= end || running.length >= rangesAtOnce ? await running.shift()! : [];
		if (above < end) {
			const range = readRange(log, above, Math.min(above + width, end), end);
			// A rejection is thrown in its turn.
			range.catch(() => undefined);
			running.push(range);
		}
		yield* events;
	}
	// The events written meanwhile.
	yield* log.after(Math.max(begin, end));
}

/** The events above a sequence, up to another. @param end the sequence of the newest event of the log */
async function readRange({ after, pageSize }: PagedLog, above: number, to: number, end: number): Promise<CrmEvent[]> {
	const events: CrmEvent[] = [];
	for (let reached = above; reached < to; ) {
		const before = reached;
		for await (const event of after(before, pageSize)) {
			reached = event.sequence;
			// The last page may extend beyond the range; those events are left to the next range.
			if (reached <= to) events.push(event);
		}
		if (reached === before) throw new Error(endsEarly(end));
	}
	return events;
}

const endsEarly = (end: number) =>
	`The CRM’s log ends before its newest event (sequence ${end}), so changes would be missed. Run the node again later.`;
