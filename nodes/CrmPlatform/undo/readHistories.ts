import type { EventLog } from '../api/eventLog';
import type { Execution, Resource } from '../model';
import { meaningOfTypes, type EventMeaning } from './eventMeaning';
import { Histories } from './recordHistory';
import type { UndoChoices } from './selection';

/**
 * Reads the log from the chosen time on.
 *
 * @returns also the sequence of the last event
 * @throws Error in the user's words where the log does not reach back to the time
 */
export async function readHistories(execution: Execution, log: EventLog, choices: UndoChoices, kinds: Resource[]): Promise<{ histories: Histories; last: number }> {
	const { api } = execution;
	const templates = new Map(kinds.map((kind) => [general(kind.path), kind]));
	const refusal = ({ template, kind }: EventMeaning): string | undefined => {
		const resource = templates.get(general(template));
		if (choices.kinds.length > 0) return resource && choices.kinds.includes(resource.value) ? undefined : '';
		if (resource) return undefined;
		// A job stays as a record of what was done; its lines are changes of their own.
		if (template === '/jobs') return '';
		return kind === 'message' ? sentMessage : setUp;
	};
	const histories = new Histories(meaningOfTypes(await api.describeEvents()), refusal);
	const since = choices.since === undefined ? undefined : new Date(choices.since).toISOString();
	const [oldest, firstSince] = await Promise.all([log.oldest(), since === undefined ? undefined : log.firstSince(since)]);
	const first = since === undefined ? oldest : firstSince;
	if (!oldest && choices.since !== undefined && !choices.isAsFarAsLog) throw new Error(emptyLog);
	if (!oldest || !first) return { histories, last: 0 };
	const begin = new Date(oldest.timestamp).toISOString();
	// The first event of an account is the first there is.
	const isWhole = oldest.sequence <= 1;
	if (choices.since === undefined && !isWhole) api.notices.add(`The whole log was read. It goes back to ${begin}.`);
	if (choices.since !== undefined && !isWhole && Date.parse(oldest.timestamp) > choices.since) {
		if (!choices.isAsFarAsLog) throw new Error(`Since: the service’s log only goes back to ${begin}, so earlier changes cannot be undone. Nothing was written. Set Since to ${begin} or later, or turn on Allow Partial Undo.`);
		api.notices.add(`The log of the service only goes back to ${begin}. Earlier changes are not undone.`);
	}
	let last = first.sequence - 1;
	const seen = new Set<number>();
	for await (const event of log.allAfter(last)) {
		// A log may hand out an event twice.
		if (seen.has(event.sequence)) continue;
		if (event.sequence <= last) throw new Error(unordered);
		seen.add(event.sequence);
		histories.add(event, choices.isChosen(event));
		last = event.sequence;
	}
	return { histories, last };
}

const general = (path: string): string => path.replace(/\{\w+\}/g, '{}');

const unordered = 'The event log of the service is not in sequence, so the order of the changes is unknown. Nothing was written. Report this to the service’s support.';
const emptyLog =
	'Since: the log of the service is empty, so the changes since then are unknown. Nothing was written. If nothing was changed, there is nothing to undo.';
const sentMessage = 'Messages cannot be taken back.';
const setUp = 'Changes to the setup of an account must be undone by hand.';
