import type { IDataObject } from 'n8n-workflow';

import { deletionHash } from '../api/http/idempotency';
import { withoutParameterNames } from '../api/http/path';
import { ruleBroken } from '../api/http/rules';
import { recordName } from '../api/record';
import { idText } from '../base/json';
import { getOrCreate } from '../base/maps';
import { ownMember, setMember } from '../base/ownMembers';
import { causedByExecution, causeOf } from '../log/cause';
import { type CrmEvent, type EventMeaning, isErased, meaningOfTypes } from '../log/crmEvent';
import { hasField, topLevelName } from '../log/eventFields';
import type { EventLog } from '../log/eventLog';
import type { EventCatalog } from '../api/openapi/eventTypes';
import type { Execution, Resource } from '../model';
import { versionNumber } from '../writing/replace';
import { addChangeByOthers, fieldChange, type RecordHistory, type Recreation, replay } from './history';
import { LinksToCreated, recordKey } from './links';
import { because } from './reasons';
import { originInKeys } from './undoFields';
import type { UndoChoices } from './undoForm';

/** What events of a type mean, and why the records that they are about cannot be undone, or whether they are ignored. */
interface UndoableType extends EventMeaning {
	refusal: ReturnType<typeof because> | 'ignored' | undefined;
}

/** The log from the chosen time on, and the histories of the records to undo. */
export class LoggedChanges {
	/** The histories of all records to undo, the last changed record first. */
	histories: readonly RecordHistory[] = [];
	readonly links: LinksToCreated;
	/** The types of the events that this undo has caused, as far as the log shows them. */
	readonly causedTypes: string[] = [];
	/** How many changes were made after the log was read that would be undone, too. */
	lateChanges = 0;
	private readonly execution: Execution;
	private readonly log: EventLog;
	private readonly choices: UndoChoices;
	private readonly typeOf: (event: CrmEvent) => UndoableType;
	private readonly byRecord = new Map<string, RecordHistory>();
	/** The histories, by the record that was created again. */
	private readonly byRecreation = new Map<string, { history: RecordHistory; recreation: Recreation }>();
	private readonly byDeletion = new Map<string, RecordHistory>();
	/** Sequence of the last event that was read. */
	private lastSequence = 0;
	/** How many changes to undo there are, of all record types. */
	private found = 0;
	/** How many numbers are missing in all: the log numbers its events without gaps. */
	private hidden = 0;

	/** @throws Error in the user's words if the log does not reach back to the chosen time, or lacks what an undo needs */
	static async read(execution: Execution, log: EventLog, choices: UndoChoices, undoableTypes: Resource[]): Promise<LoggedChanges> {
		const { api } = execution;
		const { allowsPartialUndo } = choices;
		const logged = new LoggedChanges(execution, log, choices, typesIn(await api.describeEvents(), undoableTypes, choices));
		const since = choices.since === undefined ? undefined : new Date(choices.since).toISOString();
		const [oldest, firstSince] = await Promise.all([log.oldest(), since === undefined ? undefined : log.firstSince(since)]);
		if (!oldest && since !== undefined && !allowsPartialUndo) throw new Error(emptyLog);
		// The first event of an account has the sequence 1.
		if (oldest && oldest.sequence > 1) {
			const begin = new Date(oldest.timestamp).toISOString();
			const isTooShort = since !== undefined && begin > since;
			if (isTooShort && !allowsPartialUndo) throw new Error(shortLog(begin));
			if (isTooShort) api.notices.add(`The log of the CRM only goes back to ${begin}. Earlier changes are not undone.`);
			if (since === undefined) api.notices.add(`The whole log was read. It goes back to ${begin}.`);
		}
		const first = since === undefined ? oldest : firstSince;
		if (first) await logged.readFrom(first);
		return logged;
	}

	private constructor(execution: Execution, log: EventLog, choices: UndoChoices, typeOf: (event: CrmEvent) => UndoableType) {
		this.execution = execution;
		this.log = log;
		this.choices = choices;
		this.typeOf = typeOf;
		this.links = new LinksToCreated(choices);
	}

	private async readFrom(first: CrmEvent): Promise<void> {
		const { causer, isChosen: isToBeUndone, isSightLimited } = this.choices;
		this.lastSequence = first.sequence - 1;
		/** How many numbers are missing between and directly around the changes to undo, and since the last of them. */
		let [unseen, missing, wasChosen] = [0, 0, false];
		for await (const event of this.log.allAfter(this.lastSequence)) {
			const isChosen = isToBeUndone(event);
			if (isChosen && event.type.endsWith('.erased')) throw new Error(erased(causer.label, event));
			const gap = event.sequence - this.lastSequence - 1;
			this.hidden += gap;
			missing += gap;
			if (isChosen || wasChosen) unseen += missing;
			if (isChosen || wasChosen || this.found === 0) missing = 0;
			if (isChosen) this.found++;
			wasChosen = isChosen;
			this.lastSequence = event.sequence;
			const { change, refusal } = this.typeOf(event);
			if (change && refusal === undefined) refuseIncomplete(event, change);
			this.add(event, isChosen ? 'chosen' : 'others');
		}
		// An API key sees all records. Other numbers report to single users what they see no longer.
		if (unseen > 0 && isSightLimited) this.execution.api.notices.add(unseenChanges(unseen, causer.label));
		this.histories = [...this.byRecord.values()].reverse();
		for (const history of this.histories) history.fields = new Map([...history.changes].map(([name, changes]) => [name, replay(changes)]));
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
			const isOwn = isByThisUndo(event);
			isRelevant = this.add(event, isOwn ? 'this undo' : 'others') || isRelevant;
			if (isOwn) this.causedTypes.push(event.type);
			else if (this.choices.isChosen(event)) this.lateChanges++;
		}
		return isRelevant;
	}

	async whyNothing([resource]: Resource[]): Promise<string> {
		const { causer, onlyIds, recordTypes, since, isSightLimited } = this.choices;
		const label = causer.label;
		const concerned = onlyIds ? 'the records in Only These Records' : recordTypes.length > 0 ? 'the chosen Record Types' : 'a record';
		if (this.found > 0) return `${label} made ${changesOf(this.found)}, but none to ${concerned}.`;
		if (this.lastSequence === 0) return since === undefined ? 'The log of the CRM is empty.' : 'The log of the CRM has nothing since then.';
		if (causer.instead !== undefined) return causer.instead;
		const origin = originInKeys(this.execution, resource && (await this.execution.api.describe(resource.path))?.create);
		const isNamed = causer.type === 'actor' || (causer.type === 'execution' ? origin?.execution : origin) !== undefined;
		if (!isNamed) return keysTooShort;
		if (isSightLimited) return invisible(this.hidden, label);
		return [`No changes by ${label} are in the log.`, causer.type === 'execution' && checkNumber, causer.hasSharedWrites && sharedWrites].filter(Boolean).join(' ');
	}

	/** @returns whether someone else has changed a created record, or the record links to one */
	private add(event: CrmEvent, by: 'chosen' | 'others' | 'this undo'): boolean {
		const type = this.typeOf(event);
		const { collection, change } = type;
		const id = idText(event.data.object.id) ?? '';
		const key = recordKey({ collection, id });
		const { history: replaced, recreation } = this.byRecreation.get(key) ?? {};
		const affected = this.byRecord.get(key) ?? replaced;
		if (by === 'chosen') this.addChosen(event, type, id);
		else if (by === 'others' && affected && change) {
			addChangeByOthers(affected, event, change);
			if (change === 'deleted') this.byDeletion.set(deletionHash(event.id), affected);
		}
		const history = this.byRecord.get(key);
		const changed = history ?? replaced;
		if (history && change) history.current = stateAfter(event, change, [...history.changes.keys()]);
		if (changed && causeOf(event).origin?.purpose === 'erase') changed.problem ??= because('madeAnonymous');
		if (recreation && change) recreation.record = stateAfter(event, change);
		if (change === 'created') this.noteRecreation(event, id, false);
		return this.links.addEvent(key, event, change) || (by === 'others' && change === 'updated' && history?.isCreated === true);
	}

	private addChosen(event: CrmEvent, { recordType, collection, template, change, refusal }: UndoableType, id: string): void {
		const key = recordKey({ collection, id });
		const { current, deletion } = this.byRecord.get(key) ?? {};
		const record = current ?? deletion?.record;
		if (refusal === 'ignored') return;
		// An event such as deal.won accompanies the one that describes the change.
		if (change === undefined && refusal === undefined && record && versionNumber(record) === versionNumber(event.data.object)) return;
		const replaced = change === 'created' ? this.noteRecreation(event, id, true) : undefined;
		const history: RecordHistory = this.byRecord.get(key) ??
			{ recordType, collection, template, id, isCreated: false, changes: new Map(), fields: new Map(), recreations: [], changedByOthers: new Map() };
		// The last changed record is the last one in the map.
		this.byRecord.delete(key);
		this.byRecord.set(key, history);
		history.name = recordName(event.data.object) ?? history.name;

		if (refusal !== undefined) history.problem = refusal;
		else if (isErased(event)) history.problem = because('erasedSince');
		else if (id === '' || change === undefined) history.problem = because('notUnderstood', event.type);
		else if (change === 'updated') {
			for (const name of event.data.changed) getOrCreate(history.changes, name, () => []).push({ ...fieldChange(event, name), isOwn: true });
		} else if (change === 'deleted') {
			history.deletion = { event: event.id, record: event.data.object };
			this.byDeletion.set(deletionHash(event.id), history);
		} else {
			// For a user, a record that becomes visible is reported as created, too.
			if (versionNumber(event.data.object)! > 1n) history.problem = because('notCreated');
			history.isCreated = replaced?.deletion ? replaced.isCreated : true;
			if (history.isCreated) this.links.addCreated(history.id);
		}
	}

	/** Notes a record that an undo has created, once. @returns the history of the record in whose place it was created */
	private noteRecreation(event: CrmEvent, id: string, isToBeUndone: boolean): RecordHistory | undefined {
		const history = this.byDeletion.get(causeOf(event).origin?.hash ?? '');
		const key = history && recordKey({ collection: history.collection, id });
		if (!key || this.byRecreation.has(key)) return history;
		const recreation = { id, record: event.data.object, isToBeUndone };
		history.recreations.push(recreation);
		this.byRecreation.set(key, { history, recreation });
		return history;
	}
}

/** The record after an event that describes a change; undefined if it is gone. @param fields all by default */
function stateAfter({ data: { object } }: CrmEvent, change: EventMeaning['change'], fields?: string[]): IDataObject | undefined {
	if (change === 'deleted') return undefined;
	if (!fields) return object;
	const state: IDataObject = {};
	for (const name of ['id', 'version', ...fields.map(topLevelName)]) setMember(state, name, ownMember(object, name));
	return state;
}

/** @throws Error in the user's words if an event of a record lacks the version, the previous values or the cause */
function refuseIncomplete(event: CrmEvent, change: EventMeaning['change']): void {
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

/** Returns a function that finds the type of an event. */
function typesIn(catalog: EventCatalog, undoableTypes: Resource[], { recordTypes }: UndoChoices): (event: CrmEvent) => UndoableType {
	const meaningOf = meaningOfTypes(catalog);
	const resources = new Map(undoableTypes.map((resource) => [withoutParameterNames(resource.path), resource.value]));
	const types = new Map<string, UndoableType>();
	const refusalOf = ({ template, recordType, change }: EventMeaning): UndoableType['refusal'] => {
		const resource = resources.get(withoutParameterNames(template));
		if (recordTypes.length > 0 && (resource === undefined || !recordTypes.includes(resource))) return 'ignored';
		if (resource !== undefined) return recordType === 'message' && change !== 'updated' ? because('sentMessage') : undefined;
		// A job stays as a record of what was done. What it wrote has events of its own.
		return template === '/jobs' ? 'ignored' : because('setupChange');
	};
	return ({ type }) => getOrCreate(types, type, () => {
		const unknown = `/events/${type}` as const;
		const meaning = meaningOf(type) ?? { recordType: type, collection: unknown, template: unknown };
		return { ...meaning, refusal: refusalOf(meaning) };
	});
}

const shortLog = (begin: string) =>
	`Since: the CRM’s log only goes back to ${begin}, so earlier changes cannot be undone. Nothing was written. Set Since to ${begin} or later, or turn on Allow Partial Undo.`;
const emptyLog =
	'Since: the log of the CRM is empty, so the changes since then are unknown. Nothing was written. If nothing was changed, there is nothing to undo.';
const erased = (label: string, { type, data: { object } }: CrmEvent) =>
	`Changes of ${label} erased the ${type.replace(/\.erased$/, '')} ${String(object.id)} permanently, which cannot be undone. Nothing was written. Choose other changes, or limit Since and Until.`;
const changesOf = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'change' : 'changes'}`;
const unseenChanges = (count: number, label: string) =>
	`${changesOf(count)} of ${label} may be outside what this credential sees: so many numbers are missing in the log. What it does not see is not undone. Use a credential that sees all records.`;
const invisible = (count: number, label: string) =>
	`This credential sees no changes by ${label}${count > 0 ? `, and ${count} numbers are missing in the log` : ''}. If there are any, use a credential with permission to see the records.`;
const checkNumber =
	'Check the number: it is the last part of the URL in n8n, and nodes that ran before a retry belong to the execution that was retried.';
const sharedWrites = 'Writes with Write Once Per name no execution: undo them with A Workflow.';
const keysTooShort = 'The CRM’s idempotency keys are too short to say which workflow or execution made a change. Choose A User or API Key.';
