import type { CrmEvent } from '../../api/event';
import { passesFilter } from '../eventFilter';
import type { EventLog } from '../eventLog';
import type { Choice } from './position';

/** How far back from the newest chosen event one is looked for that has started the workflow. */
const places = [0, 1, 3, 7, 15, 31, 63, 127, 255, 511];

/**
 * Finds where a trigger was whose position is lost, by asking n8n for executions with its events.
 *
 * @param hasStarted whether there is an execution of an event
 * @returns the sequence of an event that has started the workflow; undefined if none is found
 */
export async function findLostPlace(
	log: Pick<EventLog, 'newestFirst'>,
	{ events, filter }: Choice,
	hasStarted: (event: CrmEvent) => Promise<boolean>,
): Promise<number | undefined> {
	let index = 0;
	for await (const event of log.newestFirst(events)) {
		if (!passesFilter(event, filter)) continue;
		if (places.includes(index) && (await hasStarted(event))) return event.sequence;
		index += 1;
		if (index > places.at(-1)!) return undefined;
	}
	return undefined;
}
