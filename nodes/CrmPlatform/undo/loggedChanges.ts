import type { IDataObject } from 'n8n-workflow';

import { deletionHash } from '../api/http/idempotency';
import { withoutParameterNames } from '../api/http/path';
import { ruleBroken } from '../api/http/rules';
import { recordName } from '../api/record';
import { idText } from '../base/json';
import { ownMember, setMember } from '../base/ownMembers';
import { causedByExecution, causeOf } from '../log/cause';
import { type CrmEvent, type EventMeaning, isErased, meaningOfTypes } from '../log/crmEvent';
import type { EventLog } from '../log/eventLog';
import type { Execution, Resource } from '../model';
import { versionNumber } from '../writing/replace';
import { hasField, topLevelName } from './fieldValues';
import { addChangeByOthers, addUpdateToUndo, newHistory, noteChangeByOthers, type RecordHistory, type Recreation, replay } from './history';
import { LinksToCreated, recordKey } from './links';
import { originInKeys } from './undoFields';
import type { UndoChoices } from './undoForm';

/** The record that an event is about, and what happened to it. */
interface Subject {
	meaning: EventMeaning;
	id: string;
	/** Identifies the record among those of all types. */
	key: string;
}

/** The log from the chosen time on, and the histories of the records to undo. */
export class LoggedChanges {
	readonly links = new LinksToCreated();
	/** The types of the events that this undo has caused, as far as the log shows them. */
	readonly causedTypes: string[] = [];
	private readonly execution: Execution;
	private readonly log: EventLog;
	private readonly choices: UndoChoices;
	private readonly meaningOf: (type: string) => EventMeaning | undefined;
	/** Why records of a type cannot be undone; empty if they are ignored. */
	private readonly refusal: (meaning: EventMeaning) => string | undefined;
	private readonly byRecord = new Map<string, RecordHistory>();
	/** The histories, by the record that was created again. */
	private readonly byRecreation = new Map<string, { history: RecordHistory; recreation: Recreation }>();
	private readonly byDeletion = new Map<string, RecordHistory>();
	/** Sequence of the last event that was read. */
	private lastSequence = 0;
	/** How many changes to undo there are, of all record types. */
	private found = 0;
	/** How many changes were made after the log was read that would be undone, too. */
	private lateChanges = 0;
	/** How many numbers are missing around the changes to undo: the log numbers its events without gaps. */
	private unseen = 0;
	/** How many numbers are missing in all. */
	private hidden = 0;

	/** @throws Error in the user's words if the log does not reach back to the chosen time, or lacks what an undo needs */
	static async read(execution: Execution, log: EventLog, choices: UndoChoices, undoableTypes: Resource[]): Promise<LoggedChanges> {
		const meaningOf = meaningOfTypes(await execution.api.describeEvents());
		const changes = new LoggedChanges(execution, log, choices, meaningOf, refusalOf(undoableTypes, choices));
		const since = choices.since === undefined ? undefined : new Date(choices.since).toISOString();
		const [oldest, firstSince] = await Promise.all([log.oldest(), since === undefined ? undefined : log.firstSince(since)]);
		if (!oldest && since !== undefined && !choices.allowsPartialUndo) throw new Error(emptyLog);
		if (oldest) checkReach(oldest, choices, execution.api.notices);
		await changes.readFrom(since === undefined ? oldest : firstSince);
		return changes;
	}

	private constructor(
		execution: Execution, log: EventLog, choices: UndoChoices, meaningOf: LoggedChanges['meaningOf'], refusal: LoggedChanges['refusal'],
	) {
		this.execution = execution;
		this.log = log;
		this.choices = choices;
		this.meaningOf = meaningOf;
		this.refusal = refusal;
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
			this.addEvent(event, isChosen);
			this.hidden += gap;
			missing = this.found > 0 || isChosen ? missing + gap : gap;
			if (isChosen || isAfterChosen) {
				this.unseen += missing;
				missing = 0;
			}
			if (isChosen) this.found++;
			isAfterChosen = isChosen;
		}
		this.links.sequenceBeforeUndo = this.lastSequence;
		// An API key sees all records. Other numbers report to single users what they see no longer.
		if (this.unseen > 0 && this.choices.isSightLimited) this.execution.api.notices.add(unseenChanges(this.unseen, this.choices.causer.label));
	}

	/**
	 * Reads new events, which may have created a record again, changed such a record or one to delete, or linked to one to
	 * delete. A change to undo among them is not undone: who made it is still at work.
	 *
	 * @returns whether one of them may prevent the deletion of a created record
	 */
	async catchUp(): Promise<boolean> {
		const isByThisUndo = causedByExecution(this.execution.identity);
		let isRelevant = false;
		for await (const event of this.log.allAfter(this.lastSequence)) {
			if (event.sequence <= this.lastSequence) continue;
			this.lastSequence = event.sequence;
			const subject = this.subjectOf(event);
			const history = this.byRecord.get(subject.key);
			const isOwn = isByThisUndo(event);
			const isChangeOfCreated = !isOwn && subject.meaning.change === 'updated' && history?.isCreated === true;
			if (isChangeOfCreated) noteChangeByOthers(history, event);
			isRelevant = this.follow(event, subject) || isChangeOfCreated || isRelevant;
			if (isOwn) this.causedTypes.push(event.type);
			else if (this.choices.isChosen(event)) this.lateChanges++;
		}
		return isRelevant;
	}

	/** The histories of all records to undo, the last changed record first. */
	newestFirst(): RecordHistory[] {
		const histories = [...this.byRecord.values()].sort((a, b) => b.sequence - a.sequence);
		for (const history of histories) history.fields = new Map([...history.changes].map(([name, changes]) => [name, replay(changes)]));
		return histories;
	}

	/** @throws Error in the user's words if the execution has made further changes since the undo began */
	refuseIfGrowing(): void {
		if (this.lateChanges > 0 && this.choices.causer.type === 'execution') throw new Error(stillRuns(this.choices.causer.label));
	}

	/** Tells the user if the changes to undo have become more while the undo ran. */
	reportLateChanges(): void {
		if (this.lateChanges > 0) this.execution.api.notices.add(lateChanges(this.lateChanges, this.choices.causer.label));
	}

	async whyNothing([resource]: Resource[]): Promise<string> {
		const { causer, onlyIds, since, isSightLimited } = this.choices;
		const label = causer.label;
		if (this.found > 0) return `${label} made ${changesOf(this.found)}, but none to ${onlyIds ? 'the records in Only These Records' : 'the chosen Record Types'}.`;
		if (this.lastSequence === 0) return since === undefined ? 'The log of the CRM is empty.' : 'The log of the CRM has nothing since then.';
		if (causer.instead !== undefined) return causer.instead;
		const origin = originInKeys(this.execution, resource && (await this.execution.api.describe(resource.path))?.create);
		const isNamed = causer.type === 'actor' || (causer.type === 'execution' ? origin?.execution : origin) !== undefined;
		if (!isNamed) return keysTooShort;
		if (isSightLimited) return invisible(this.hidden, label);
		return [`No changes by ${label} are in the log.`, causer.type === 'execution' && checkNumber, causer.hasSharedWrites && sharedWrites].filter(Boolean).join(' ');
	}

	/** The record that an event is about, and what happened to it. */
	private subjectOf({ type, data: { object } }: CrmEvent): Subject {
		const meaning = this.meaningOf(type) ?? { recordType: type, collection: type, template: type };
		const id = idText(object.id) ?? '';
		return { meaning, id, key: recordKey({ collection: meaning.collection, id }) };
	}

	/** Adds an event that happened before the undo. @throws Error in the user's words if it lacks what an undo needs */
	private addEvent(event: CrmEvent, isToBeUndone: boolean): void {
		const subject = this.subjectOf(event);
		const { meaning, key } = subject;
		if (meaning.change && this.refusal(meaning) === undefined) refuseIncomplete(event, meaning);
		if (isToBeUndone) this.addEventToUndo(event, subject);
		else {
			const affectedHistory = this.byRecord.get(key) ?? this.byRecreation.get(key)?.history;
			if (affectedHistory && meaning.change !== undefined) addChangeByOthers(affectedHistory, event);
			if (affectedHistory && meaning.change === 'deleted') this.byDeletion.set(deletionHash(event.id), affectedHistory);
		}
		const history = this.byRecord.get(key);
		if (history && meaning.change) history.current = stateAfter(event, meaning, [...history.changes.keys()]);
		const changedHistory = history ?? this.byRecreation.get(key)?.history;
		if (changedHistory && causeOf(event).origin?.purpose === 'erase') changedHistory.problem ??= madeAnonymous;
		this.follow(event, subject);
	}

	/** Follows the records that were created again, and the links to created ones. @returns whether the record of the event has such a link */
	private follow(event: CrmEvent, { meaning, id, key }: Subject): boolean {
		const { recreation } = this.byRecreation.get(key) ?? {};
		if (recreation && meaning.change) recreation.record = stateAfter(event, meaning);
		if (meaning.change === 'created') this.noteRecreation(event, id, false);
		return this.links.addEvent(key, event, meaning);
	}

	private addEventToUndo(event: CrmEvent, { meaning, id, key }: Subject): void {
		const existingHistory = this.byRecord.get(key);
		const refusal = this.refusal(meaning);
		if (refusal === '') return;
		// An event such as deal.won accompanies the one that describes the change.
		if (meaning.change === undefined && existingHistory && refusal === undefined && versionIn(event) === existingHistory.version) return;
		const replacedHistory = meaning.change === 'created' ? this.noteRecreation(event, id, true) : undefined;
		const history = existingHistory ?? newHistory(meaning, id);
		this.byRecord.set(key, history);
		const name = recordName(event.data.object);
		if (name !== undefined) history.name = name;
		history.version = versionIn(event);
		history.sequence = event.sequence;

		if (refusal !== undefined) history.problem = refusal;
		else if (isErased(event)) history.problem = erasedSince;
		else if (id === '' || meaning.change === undefined) history.problem = notUnderstood(event.type);
		else if (meaning.change === 'created') this.addCreation(history, event, replacedHistory);
		else if (meaning.change === 'updated') addUpdateToUndo(history, event);
		else {
			history.deletion = { event: event.id, record: event.data.object };
			this.byDeletion.set(deletionHash(event.id), history);
		}
	}

	/** @param replacedHistory the history of the record in whose place this one was created, if there is one */
	private addCreation(history: RecordHistory, event: CrmEvent, replacedHistory: RecordHistory | undefined): void {
		// For a user, a record that becomes visible is reported as created, too.
		if (versionIn(event) > 1n) history.problem = notCreated;
		history.isCreated = replacedHistory?.deletion ? replacedHistory.isCreated : true;
		if (history.isCreated) this.links.addCreated(history.id);
	}

	/** Notes a record that an undo has created, once. @returns the history of the record in whose place it was created */
	private noteRecreation(event: CrmEvent, id: string, isToBeUndone: boolean): RecordHistory | undefined {
		const hash = causeOf(event).origin?.hash ?? '';
		const history = this.byDeletion.get(hash);
		const key = history && recordKey({ collection: history.collection, id });
		if (!key || this.byRecreation.has(key)) return history;
		const recreation = { id, record: event.data.object, isToBeUndone };
		history.recreations.push(recreation);
		this.byRecreation.set(key, { history, recreation });
		return history;
	}
}

/** The version of the record of an event; none if its values were erased, or if it is no record to undo. */
const versionIn = ({ data: { object } }: CrmEvent): bigint => versionNumber(object) ?? 0n;

/** The record after an event that describes a change; undefined if it is gone. @param fields all by default */
function stateAfter({ data: { object } }: CrmEvent, { change }: EventMeaning, fields?: string[]): IDataObject | undefined {
	if (change === 'deleted') return undefined;
	if (!fields) return object;
	const state: IDataObject = {};
	for (const name of ['id', 'version', ...fields.map(topLevelName)]) setMember(state, name, ownMember(object, name));
	return state;
}

/** @throws Error in the user's words if an event of a record lacks the version, the previous values or the cause */
function refuseIncomplete(event: CrmEvent, { change }: EventMeaning): void {
	const { type, sequence, data: { object, previous, changed } } = event;
	if (isErased(event)) return;
	const refuse = (rule: number, problem: string) => {
		throw ruleBroken(rule, `Event ${sequence} of the log (${type})`, `${problem} Nothing was written.`);
	};
	if (versionNumber(object) === undefined) refuse(12, 'The record in it has no version.');
	const hasValues = previous !== null && changed.length > 0 && changed.every((name) => hasField(previous, name));
	if (change === 'updated' && !hasValues) refuse(15, 'It does not have the previous values of the changed fields.');
	if (!causeOf(event).isReported) refuse(15, 'It does not say which request caused it.');
}

const notCreated =
	'The CRM reports it as created, but it existed before, and only became visible to this credential. Undo it with a credential that sees all records.';
const erasedSince = 'The record was deleted permanently, and its values with it.';
const madeAnonymous = 'An erasure of a person has made this record anonymous. Its earlier texts may name the person.';
const notUnderstood = (type: string) => `The CRM reports ${type}, which the node does not understand.`;

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
