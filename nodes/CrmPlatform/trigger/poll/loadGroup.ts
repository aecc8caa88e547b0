import { NodeApiError, type IDataObject, type INodeExecutionData } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import type { CrmEvent } from '../../log/crmEvent';
import { eventIdentity, type EventLog } from '../../log/eventLog';
import { isWebPage } from '../../api/record';
import { isTransient } from '../../api/http/retry';
import { inParallel } from '../../api/inParallel';
import { unauthorized } from '../../api/http/statuses';
import { eventOutput, type EventOutput } from '../eventOutput';
import type { Group } from './position';
import { RecordBehindError, type RecordReader } from './records';

/** Why some events or records of a group could not be read. */
export interface LoadFailure {
	ids: string[];
	error: Error;
	/** Whether the service has refused them, so that a retry is of little use. */
	isFinal: boolean;
}

/** The input of an execution. */
export interface Loaded {
	items: INodeExecutionData[];
	failures: LoadFailure[];
}

interface LoadOptions {
	api: Connection;
	log: EventLog;
	/** The reader of the records; absent for events. */
	records?: RecordReader | undefined;
	output: EventOutput;
	/** How often the group could not be read before. */
	tries: number;
	/** Events by identity and pages of records that were just read. */
	cache: { readonly events: Map<string, CrmEvent>; readonly pages: Map<string, IDataObject[]> };
}

/** Number of reads that may return records older than their events; they take longer than a replica may lag. */
const maxBehind = 2;

/** Reads the items of a group by the choice stored in the group, even if the user has changed it since. */
export async function loadGroup(group: Group, options: LoadOptions): Promise<Loaded> {
	const { api, records, output, cache } = options;
	if (group.kind === 'records') {
		const cachedRecords = cache.pages.get(group.name);
		cache.pages.delete(group.name);
		if (cachedRecords) return asLoaded(cachedRecords);
		return await tryReading(group.ids, async () => (await records?.existing(group.ids)) ?? []);
	}
	const { found, missing } = await eventsOf(group, options);
	const gone = missing.length === 0 ? [] : asFailed(missing, new Error('the event log no longer has it'), true).failures;
	const loaded = group.start.startsWith('records ')
		? await tryReading(found.map(({ id }) => id), async () => (found.length === 0 ? [] : await records!.changed(found, options.tries < maxBehind)))
		: await loadEach(found, async (event) => await eventOutput(event, { ...output, shape: group.shape }, async () => api));
	if (gone.length + loaded.failures.length === 0) for (const event of found) cache.events.delete(eventIdentity(event));
	return { items: loaded.items, failures: [...gone, ...loaded.failures] };
}

/** Makes one item for each event, in their order, a few at a time. */
async function loadEach(events: CrmEvent[], output: (event: CrmEvent) => Promise<IDataObject>): Promise<Loaded> {
	const parts = await inParallel(events, async (event) => await tryReading([event.id], async () => [await output(event)]));
	return { items: parts.flatMap(({ items }) => items), failures: parts.flatMap(({ failures }) => failures) };
}

async function tryReading(ids: string[], read: () => Promise<IDataObject[]>): Promise<Loaded> {
	try {
		return asLoaded(await read());
	} catch (error) {
		return asFailed(ids, error as Error, isRefusal(error));
	}
}

/** Whether the service refused this request: the cause is not the connection, the whole service or the rate limit. */
function isRefusal(error: unknown): boolean {
	if (!(error instanceof NodeApiError)) return !(error instanceof TypeError || error instanceof RecordBehindError);
	if (isWebPage(error)) return false;
	const status = Number(error.httpCode);
	return status >= 400 && status < 500 && status !== unauthorized && !isTransient({ status, headers: {} });
}

const asLoaded = (found: IDataObject[]): Loaded => ({ items: found.map((json) => ({ json })), failures: [] });
const asFailed = (ids: string[], error: Error, isFinal: boolean): Loaded => ({
	items: [],
	failures: [{ ids, error, isFinal }],
});

/** The events of a group, however far apart they are in the log. */
async function eventsOf({ ids, timestamps, sequences, types }: Group, { log, cache }: LoadOptions) {
	const identities = ids.map((id, i) => eventIdentity({ id, timestamp: timestamps[i]! }));
	const found = new Map<string, CrmEvent>();
	for (const identity of identities) {
		const event = cache.events.get(identity);
		if (event) found.set(identity, event);
	}
	const requestedIdentities = new Set(identities);
	const last = Math.max(...sequences);
	let left = sequences.filter((_, i) => !found.has(identities[i]!)).sort((a, b) => a - b);
	while (left.length > 0) {
		let reached = left[0]!;
		// One request covers this range; events farther away are requested by their sequence.
		const limit = Math.min(maxPartSize, last - reached + 1);
		for await (const event of log.after(reached - 1, types, limit)) {
			reached = Math.max(reached, event.sequence);
			if (requestedIdentities.has(eventIdentity(event))) found.set(eventIdentity(event), event);
			if (event.sequence >= last) break;
		}
		left = left.filter((sequence) => sequence > reached);
	}
	const missing = ids.filter((_, i) => !found.has(identities[i]!));
	return { found: identities.flatMap((identity) => found.get(identity) ?? []), missing };
}

/** Number of events that are read at the same time for a group. */
const maxPartSize = 500;
