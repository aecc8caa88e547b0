import type { CrmEvent } from '../../log/crmEvent';
import { passesFilter } from '../eventFilter';
import type { EventLog } from '../../log/eventLog';
import type { Choice } from './position';

/** Distances from the newest chosen event at which to look for an event that has started the workflow. */
const distances = [0, 1, 3, 7, 15, 31, 63, 127, 255, 511];

/** Maximum number of events to look at. */
const maxSearched = 1_000;

/** Maximum number of events to read again. */
const maxRepeated = 200;

/** Number of consecutive events without an execution after which all earlier ones count as older than the trigger. */
const maxWithoutExecution = 20;

/**
 * Recovers the lost position of a trigger by asking n8n for executions of its events.
 *
 * @param hasStarted whether there is an execution of an event
 * @returns the sequence above which events without an execution still have to be started, and that of the newest started
 * event; undefined if none of the latest events has started the workflow
 */
export async function findLostPosition(
	log: Pick<EventLog, 'newestFirst'>,
	{ events, filter }: Choice,
	hasStarted: (event: CrmEvent) => Promise<boolean>,
): Promise<{ sequence: number; newestStarted: number } | undefined> {
	const chosen: CrmEvent[] = [];
	let searched = 0;
	for await (const event of log.newestFirst(events)) {
		if (passesFilter(event, filter)) chosen.push(event);
		// A filter may match rarely; a publish does not wait for the whole log.
		if (++searched >= maxSearched) break;
	}
	const available = distances.filter((distance) => distance < chosen.length);
	const started = await Promise.all(available.map(async (distance) => await hasStarted(chosen[distance]!)));
	const first = available.find((_, i) => started[i]);
	if (first === undefined) return undefined;
	const newestStarted = chosen[first]!.sequence;
	let sequence = newestStarted - 1;
	let withoutExecution = 0;
	for (const event of chosen.slice(first + 1, first + maxRepeated)) {
		const isStarted = await hasStarted(event);
		withoutExecution = isStarted ? 0 : withoutExecution + 1;
		if (isStarted) sequence = event.sequence - 1;
		if (withoutExecution >= maxWithoutExecution) break;
	}
	return { sequence, newestStarted };
}
