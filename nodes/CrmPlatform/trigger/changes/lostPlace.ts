import type { CrmEvent } from '../../api/event';
import { passesFilter } from '../eventFilter';
import type { EventLog } from '../eventLog';
import { overlap, type Choice } from './position';

/** How far back from the newest chosen event one is looked for that has started the workflow. */
const places = [0, 1, 3, 7, 15, 31, 63, 127, 255, 511];

/** So many events in a row without an execution were there before the trigger, or are from before it began. */
const mostUnknown = 20;

/** Where a trigger was: above the floor, events without an execution are still to be started. */
export interface FoundPlace {
	floor: number;
	sequence: number;
}

/**
 * Finds where a trigger was whose position is lost, by asking n8n for executions with its events.
 *
 * @param hasStarted whether there is an execution of an event
 * @returns undefined if none of the latest events has started the workflow
 */
export async function findLostPlace(
	log: Pick<EventLog, 'newestFirst'>,
	{ events, filter }: Choice,
	hasStarted: (event: CrmEvent) => Promise<boolean>,
): Promise<FoundPlace | undefined> {
	let found: FoundPlace | undefined;
	let index = 0;
	let unknown = 0;
	for await (const event of log.newestFirst(events)) {
		if (!passesFilter(event, filter)) continue;
		const isFar = found ? event.sequence <= found.sequence - overlap : index > places.at(-1)!;
		if (isFar || unknown >= mostUnknown) break;
		if (!found && !places.includes(index++)) continue;
		if (await hasStarted(event)) {
			found = { sequence: found?.sequence ?? event.sequence, floor: event.sequence - 1 };
			unknown = 0;
		} else if (found) {
			unknown += 1;
		}
	}
	return found;
}
