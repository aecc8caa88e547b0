import type { CrmEvent } from '../log/crmEvent';
import { meaningOfTypes, type EventMeaning } from '../log/crmEvent';
import type { EventLog } from '../log/eventLog';
import { withoutParameterNames } from '../api/http/path';
import type { Execution, Resource } from '../model';
import { Histories } from './histories';
import type { UndoChoices } from './undoChoices';

/**
 * Reads the log from the chosen time on.
 *
 * @throws Error in the user's words if the log does not reach back to that time
 */
export async function readHistories({ api }: Execution, log: EventLog, choices: UndoChoices, undoableTypes: Resource[]): Promise<Histories> {
	const histories = new Histories(meaningOfTypes(await api.describeEvents()), refusalOf(undoableTypes, choices));
	const since = choices.since === undefined ? undefined : new Date(choices.since).toISOString();
	const [oldest, firstSince] = await Promise.all([log.oldest(), since === undefined ? undefined : log.firstSince(since)]);
	const first = since === undefined ? oldest : firstSince;
	if (!oldest && since !== undefined && !choices.allowsPartialUndo) throw new Error(emptyLog);
	if (!oldest || !first) return histories;
	checkReach(oldest, choices, api.notices);
	let lastSequence = first.sequence - 1;
	const readSequences = new Set<number>();
	for await (const event of log.allAfter(lastSequence)) {
		// A log may return an event twice.
		if (readSequences.has(event.sequence)) continue;
		if (event.sequence <= lastSequence) throw new Error(unordered);
		readSequences.add(event.sequence);
		histories.addEvent(event, choices.isChosen(event));
		lastSequence = event.sequence;
	}
	return histories;
}

/** Returns a function that finds why records of a type cannot be undone; empty for those that are ignored. */
function refusalOf(undoableTypes: Resource[], choices: UndoChoices): (meaning: EventMeaning) => string | undefined {
	const resources = new Map(undoableTypes.map((resource) => [withoutParameterNames(resource.path), resource]));
	return ({ template, recordType }) => {
		const resource = resources.get(withoutParameterNames(template));
		if (choices.recordTypes.length > 0) return resource && choices.recordTypes.includes(resource.value) ? undefined : '';
		if (resource) return undefined;
		// A job stays as a record of what was done. What it wrote has events of its own.
		if (template === '/jobs') return '';
		return recordType === 'message' ? sentMessage : setupChange;
	};
}

/** Reports a log that does not reach back to the chosen time, and refuses it unless a partial undo is allowed. */
function checkReach(oldest: CrmEvent, { since, allowsPartialUndo }: UndoChoices, notices: Set<string>): void {
	// The first event of an account has the sequence 1.
	if (oldest.sequence <= 1) return;
	const logBegin = new Date(oldest.timestamp).toISOString();
	if (since === undefined) notices.add(`The whole log was read. It goes back to ${logBegin}.`);
	else if (Date.parse(oldest.timestamp) > since) {
		if (!allowsPartialUndo) throw new Error(shortLog(logBegin));
		notices.add(`The log of the CRM only goes back to ${logBegin}. Earlier changes are not undone.`);
	}
}

const unordered =
	'The event log of the CRM is not in sequence, so the order of the changes is unknown. Nothing was written. Report this to the CRM’s support.';
const shortLog = (begin: string) =>
	`Since: the CRM’s log only goes back to ${begin}, so earlier changes cannot be undone. Nothing was written. Set Since to ${begin} or later, or turn on Allow Partial Undo.`;
const emptyLog =
	'Since: the log of the CRM is empty, so the changes since then are unknown. Nothing was written. If nothing was changed, there is nothing to undo.';
const sentMessage = 'Messages cannot be taken back.';
const setupChange = 'Changes to the setup of an account must be undone by hand.';
