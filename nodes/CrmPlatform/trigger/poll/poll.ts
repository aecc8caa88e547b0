import {
	NodeApiError,
	NodeOperationError,
	type INodeExecutionData,
	type IPollFunctions,
} from 'n8n-workflow';

import { connect, type Connection } from '../../api/connection';
import { systemClock, type Clock } from '../../api/http/request';
import { passesFilter } from '../eventFilter';
import { openEventLog, type EventLog } from '../eventLog';
import { readEventChoice, type EventChoice } from '../eventProperties';
import { eventOutput } from '../output';
import { readPollChoice, type PollChoice } from './properties';
import { advanced, matchesCriteria, firstSequenceToRead, storePosition, storedPosition } from './position';
import { resume } from './resume';

/** One poll: what it works with. */
interface Poll {
	n8n: IPollFunctions;
	api: Connection;
	log: EventLog;
	choice: EventChoice & PollChoice;
	clock: Clock;
	/** When it began (Unix epoch ms). */
	begun: number;
}

type Items = INodeExecutionData[][];

/**
 * What happened since the last poll, as items of one execution; null if nothing did. By hand it
 * gives the latest events instead, and does not count as a poll.
 *
 * The position is set when all has been read, never before: a poll that fails reads the same again.
 *
 * @throws NodeApiError or NodeOperationError in the user's words
 */
export async function poll(n8n: IPollFunctions, clock = systemClock): Promise<Items | null> {
	const begun = clock.now();
	try {
		const choice = { ...readEventChoice(n8n), ...readPollChoice(n8n) };
		const api = await connect(n8n, clock);
		const work = { n8n, api, log: await openEventLog(api), choice, clock, begun };
		if (n8n.getMode() === 'manual') return await latest(work);
		return await oneAtATime(n8n, async () => await readOn(work));
	} catch (error) {
		throw error instanceof NodeApiError || error instanceof NodeOperationError
			? error
			: new NodeOperationError(n8n.getNode(), error as Error);
	}
}

/** Positions that are being moved on, by the static data n8n keeps them in. */
const reading = new WeakSet<object>();

/** n8n starts a poll though the one before is still reading; two would read the same events. */
async function oneAtATime(
	n8n: IPollFunctions,
	read: () => Promise<Items | null>,
): Promise<Items | null> {
	const place = n8n.getWorkflowStaticData('node');
	if (reading.has(place)) return null;
	reading.add(place);
	try {
		return await read();
	} finally {
		reading.delete(place);
	}
}

/** So many events are looked at in one poll, those that no filter lets through included. */
const mostRead = 10_000;

async function readOn({ n8n, api, log, choice, clock, begun }: Poll): Promise<Items | null> {
	const budget = pollBudget(n8n);
	const newest = await log.end('newest');
	const { events, filter, start, output } = choice;
	const stored = storedPosition(n8n);
	const wanted = { events, filter };
	const { position, notice } = await resume(log, stored, newest, wanted, start, begun);

	const items: INodeExecutionData[] = [];
	const read: Record<string, number> = {};
	let looked = 0;
	let upTo = newest?.sequence ?? 0;
	for await (const event of log.after(firstSequenceToRead(position), events)) {
		if (event.id in position.seen) continue;
		read[event.id] = event.sequence;
		if (matchesCriteria(position, event)) {
			items.push({ json: await eventOutput(event, output, async () => api) });
		}
		looked += 1;
		const hasTime = clock.now() - begun < budget / 2;
		if (items.length >= choice.mostEvents || looked >= mostRead || !hasTime) {
			upTo = event.sequence;
			break;
		}
		upTo = Math.max(upTo, event.sequence);
	}

	if (clock.now() - begun > budget) {
		// n8n may have given up on this poll: its items would go nowhere.
		throw new Error(
			'The service took too long to answer. Nothing is lost: the next poll reads the same events again.',
		);
	}
	for (const message of api.notices) n8n.logger.warn(`${n8n.getNode().name}: ${message}`);
	if (notice !== undefined) n8n.__emitError(new NodeOperationError(n8n.getNode(), notice));
	storePosition(n8n, advanced(position, read, upTo, clock.now()));
	return items.length > 0 ? [items] : null;
}

/** Milliseconds this poll may take. */
function pollBudget(n8n: IPollFunctions): number {
	// Older versions of n8n do not say, and never give up on a poll.
	return n8n.getPollBudgetMs?.() ?? 5 * 60_000;
}

/** How many of the latest events are shown, and how many are looked at for them. */
const mostShown = 5;
const mostSearched = 1_000;

/** The latest events that pass, in sequence. */
async function latest({ n8n, api, log, choice }: Poll): Promise<Items> {
	const items: INodeExecutionData[] = [];
	let searched = 0;
	for await (const event of log.newestFirst(choice.events)) {
		if (passesFilter(event, choice.filter)) {
			items.unshift({ json: await eventOutput(event, choice.output, async () => api) });
		}
		searched += 1;
		if (items.length === mostShown || searched === mostSearched) break;
	}
	if (items.length > 0) return [items];
	throw new NodeOperationError(n8n.getNode(), 'None of the latest events is one you chose', {
		description:
			'The trigger works all the same once the workflow is active. To see an event here, do in the CRM what it is to start with, then test again.',
	});
}
