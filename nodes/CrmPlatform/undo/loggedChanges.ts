import { idempotencyKey, originOfKey } from '../api/http/idempotency';
import { withoutParameterNames } from '../api/http/path';
import { causedByExecution, type CauserType } from '../log/cause';
import { type CrmEvent, type EventMeaning, meaningOfTypes } from '../log/crmEvent';
import type { EventLog } from '../log/eventLog';
import type { Execution, Resource } from '../model';
import { Histories } from './histories';
import type { UndoChoices } from './undoForm';

/** The log from the chosen time on, and the histories of the records to undo. */
export class LoggedChanges {
	readonly histories: Histories;
	/** How many changes were made after the log was read that would be undone, too. */
	private lateChanges = 0;
	private readonly execution: Execution;
	private readonly log: EventLog;
	private readonly choices: UndoChoices;
	/** Sequence of the last event that was read. */
	private lastSequence = 0;
	/** How many changes to undo there are, of all record types. */
	private found = 0;
	/** How many numbers are missing around the changes to undo: the log numbers its events without gaps. */
	private unseen = 0;
	/** How many numbers are missing in all. */
	private hidden = 0;
	/** The types of the events that this undo has caused, as far as the log shows them. */
	readonly causedTypes: string[] = [];

	/** @throws Error in the user's words if the log does not reach back to the chosen time, or is not in sequence */
	static async read(execution: Execution, log: EventLog, choices: UndoChoices, undoableTypes: Resource[]): Promise<LoggedChanges> {
		const meaningOf = meaningOfTypes(await execution.api.describeEvents());
		const changes = new LoggedChanges(execution, log, choices, new Histories(meaningOf, refusalOf(undoableTypes, choices)));
		const since = choices.since === undefined ? undefined : new Date(choices.since).toISOString();
		const [oldest, firstSince] = await Promise.all([log.oldest(), since === undefined ? undefined : log.firstSince(since)]);
		if (!oldest && since !== undefined && !choices.allowsPartialUndo) throw new Error(emptyLog);
		if (oldest) checkReach(oldest, choices, execution.api.notices);
		await changes.readFrom(since === undefined ? oldest : firstSince);
		return changes;
	}

	private constructor(execution: Execution, log: EventLog, choices: UndoChoices, histories: Histories) {
		this.execution = execution;
		this.log = log;
		this.choices = choices;
		this.histories = histories;
	}

	private async readFrom(first: CrmEvent | undefined): Promise<void> {
		this.lastSequence = (first?.sequence ?? 1) - 1;
		/** Missing numbers since the last change to undo; before the first one, only those directly before the event. */
		let missing = 0;
		let isAfterChosen = false;
		for await (const event of first ? this.log.allAfter(this.lastSequence) : []) {
			const [gap, isChosen] = [event.sequence - this.lastSequence - 1, this.choices.isChosen(event)];
			if (isChosen && event.type.endsWith('.erased')) throw new Error(erased(this.choices.causer.label, event));
			this.lastSequence = event.sequence;
			this.histories.addEvent(event, isChosen);
			this.hidden += gap;
			missing = this.found > 0 || isChosen ? missing + gap : gap;
			if (isChosen || isAfterChosen) {
				this.unseen += missing;
				missing = 0;
			}
			if (isChosen) this.found++;
			isAfterChosen = isChosen;
		}
		// An API key sees all records. Other numbers report to single users what they see no longer.
		if (this.unseen > 0 && this.choices.isSightLimited) this.execution.api.notices.add(unseenChanges(this.unseen, this.choices.causer.label));
	}

	/**
	 * Reads new events. A change to undo among them is not undone: who made it is still at work.
	 *
	 * @returns whether one of them may prevent the deletion of a created record
	 */
	async catchUp(): Promise<boolean> {
		const isByThisUndo = causedByExecution(this.execution.identity);
		let isRelevant = false;
		for await (const event of this.log.allAfter(this.lastSequence)) {
			this.lastSequence = event.sequence;
			const isOwn = isByThisUndo(event);
			isRelevant = this.histories.addLaterEvent(event, !isOwn) || isRelevant;
			if (isOwn) this.causedTypes.push(event.type);
			if (!isOwn && this.choices.isChosen(event)) this.lateChanges++;
		}
		return isRelevant;
	}

	/** @throws Error in the user's words if the execution has made further changes since the undo began */
	refuseIfGrowing(): void {
		if (this.lateChanges > 0 && this.choices.causer.type === 'execution') throw new Error(stillRuns(this.choices.causer.label));
	}

	/** Tells the user if the changes to undo have become more while the undo ran. */
	reportLateChanges(): void {
		if (this.lateChanges > 0) this.execution.api.notices.add(lateChanges(this.lateChanges, this.choices.causer.label));
	}

	/** Why there is nothing to undo, in the user's words. */
	async whyNothing([resource]: Resource[]): Promise<string> {
		const { causer, onlyIds, since, isSightLimited } = this.choices;
		const label = causer.label;
		if (this.found > 0) return `${label} made ${changesOf(this.found)}, but none to ${onlyIds ? 'the records in Only These Records' : 'the chosen Record Types'}.`;
		if (this.lastSequence === 0) return since === undefined ? 'The log of the CRM is empty.' : 'The log of the CRM has nothing since then.';
		if (causer.instead !== undefined) return causer.instead;
		if (causer.type !== 'actor' && !(await this.canKeysName(causer.type, resource))) return keysTooShort;
		if (isSightLimited) return invisible(this.hidden, label);
		return [`No changes by ${label} are in the log.`, causer.type === 'execution' && checkNumber, causer.hasSharedWrites && sharedWrites].filter(Boolean).join(' ');
	}

	/** Whether the service's keys have room for the workflow, and for the execution. */
	private async canKeysName(type: CauserType, resource: Resource | undefined): Promise<boolean> {
		const { api, identity } = this.execution;
		const format = (resource && (await api.describe(resource.path)))?.create?.idempotencyKey ?? {};
		const origin = originOfKey(idempotencyKey({ ...identity, items: [0] }, format));
		return type === 'execution' ? origin?.execution !== undefined : origin !== undefined;
	}
}

/** Returns a function that finds why records of a type cannot be undone; empty for those that are ignored. */
function refusalOf(undoableTypes: Resource[], choices: UndoChoices): (meaning: EventMeaning) => string | undefined {
	const resources = new Map(undoableTypes.map((resource) => [withoutParameterNames(resource.path), resource]));
	return ({ template, recordType, change }) => {
		const resource = resources.get(withoutParameterNames(template));
		if (choices.recordTypes.length > 0 && !(resource && choices.recordTypes.includes(resource.value))) return '';
		if (resource) return recordType === 'message' && change !== 'updated' ? sentMessage : undefined;
		// A job stays as a record of what was done. What it wrote has events of its own.
		return template === '/jobs' ? '' : setupChange;
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

const shortLog = (begin: string) =>
	`Since: the CRM’s log only goes back to ${begin}, so earlier changes cannot be undone. Nothing was written. Set Since to ${begin} or later, or turn on Allow Partial Undo.`;
const emptyLog =
	'Since: the log of the CRM is empty, so the changes since then are unknown. Nothing was written. If nothing was changed, there is nothing to undo.';
const erased = (label: string, { type, data: { object } }: CrmEvent) =>
	`Changes of ${label} erased the ${type.replace(/\.erased$/, '')} ${String(object.id)} permanently, which cannot be undone. Nothing was written. Choose other changes, or limit Since and Until.`;
const sentMessage = 'Messages cannot be taken back.';
const setupChange = 'Changes to the setup of an account must be undone by hand.';
const changesOf = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'change' : 'changes'}`;
const unseenChanges = (count: number, label: string) =>
	`${changesOf(count)} of ${label} may be outside what this credential sees: so many numbers are missing in the log. What it does not see is not undone. Use a credential that sees all records.`;
const invisible = (count: number, label: string) =>
	`This credential sees no changes by ${label}${count > 0 ? `, and ${count} numbers are missing in the log` : ''}. If there are any, use a credential with permission to see the records.`;
const checkNumber =
	'Check the number: it is the last part of the URL in n8n, and nodes that ran before a retry belong to the execution that was retried.';
const sharedWrites = 'Writes with Write Once Per name no execution: undo them with A Workflow.';
const keysTooShort = 'The CRM’s idempotency keys are too short to say which workflow or execution made a change. Choose A User or API Key.';
const stillRuns = (label: string) =>
	`${label} is still making changes. Nothing was written. Wait until it has ended, then run the undo again.`;
const lateChanges = (count: number, label: string) =>
	`${label} made ${count} further ${count === 1 ? 'change' : 'changes'} while the undo ran, which are not undone. When it has ended, run the undo again.`;
