import { withoutParameterNames } from '../api/http/path';
import { ruleBroken } from '../api/http/rules';
import type { EventCatalog } from '../api/openapi/eventTypes';
import { getOrCreate } from '../base/maps';
import { allCustomFields } from '../fields/field';
import { causedByExecution, causeOf } from '../log/cause';
import { type CrmEvent, type EventMeaning, isErased, meaningOfTypes } from '../log/crmEvent';
import { eventName, hasField } from '../log/eventFields';
import type { EventLog } from '../log/eventLog';
import type { NodeRun, Resource } from '../model';
import { versionNumber } from '../writing/replace';
import { explain } from './reasons';
import { RecordHistories, type UndoableType } from './recordHistories';
import type { UndoChoices } from './undoForm';

/** The log from the chosen time on, and the records that it is about. */
export interface LoggedChanges {
	records: RecordHistories;
	/** Why there is nothing to undo, if so. */
	whyNothing: string;
	/** How many changes were made after the log was read that would be undone, too. */
	lateChanges: number;
	/**
	 * Reads new events, which may have created a record again, changed such a record or one to delete, or linked to one to
	 * delete. A further change to undo among them is left: whoever made it is still making changes.
	 */
	catchUp(): Promise<void>;
}

/** @throws Error in the user's words if the log does not reach back to the chosen time, or lacks what an undo needs */
export async function readLoggedChanges(
	run: NodeRun, log: EventLog, choices: UndoChoices, undoableTypes: Resource[],
): Promise<LoggedChanges> {
	const { api, identity } = run;
	const { causer: { label }, isSightLimited, isChosen } = choices;
	const first = await firstEvent(run, log, choices);
	const typeOf = typesIn(await api.describeEvents(), undoableTypes, choices);
	const records = new RecordHistories();
	let lastSequence = first ? first.sequence - 1 : 0;
	let count = 0;
	for await (const event of first ? log.allAfter(lastSequence) : []) {
		lastSequence = event.sequence;
		const isToBeUndone = isChosen(event);
		if (isToBeUndone && event.type.endsWith('.erased')) throw new Error(erased(label, event));
		if (isToBeUndone) count++;
		const type = typeOf(event);
		if (type.change && type.refusal === undefined) refuseIncomplete(event, type.change);
		records.add(event, type, isToBeUndone ? 'chosen' : 'others');
	}
	if (first && isSightLimited) api.notices.add(limitedSight(label));
	const isByThisUndo = causedByExecution(identity);
	const logged: LoggedChanges = {
		records,
		whyNothing: whyNothing(choices, count, first !== undefined),
		lateChanges: 0,
		async catchUp() {
			for await (const event of log.allAfter(lastSequence)) {
				if (event.sequence <= lastSequence) continue;
				lastSequence = event.sequence;
				const by = isByThisUndo(event) ? 'this undo' : 'others';
				records.add(event, typeOf(event), by);
				if (by === 'others' && isChosen(event)) logged.lateChanges++;
			}
		},
	};
	return logged;
}

/** @param count how many changes of all record types are to be undone */
function whyNothing({ causer: { label, type }, onlyIds, recordTypes, since }: UndoChoices, count: number, hasEvents: boolean): string {
	const concerned = onlyIds ? 'the records in Only These Records' : recordTypes.length > 0 ? 'the chosen Record Types' : 'a record';
	if (count > 0) return `${label} made ${changesOf(count)}, but none to ${concerned}.`;
	if (!hasEvents) return since === undefined ? 'The log of the CRM is empty.' : 'The log of the CRM has nothing since then.';
	return `No changes by ${label} are in the log.${type === 'actor' ? '' : ` ${otherCausers}`}`;
}

/**
 * The first event at or after the chosen time.
 *
 * @throws Error in the user's words if the log does not reach back to it
 */
async function firstEvent({ api }: NodeRun, log: EventLog, { since: chosen, allowsPartialUndo }: UndoChoices): Promise<CrmEvent | undefined> {
	const since = chosen === undefined ? undefined : new Date(chosen).toISOString();
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
	return since === undefined ? oldest : firstSince;
}

/** @throws Error in the user's words if an event of a record lacks the version, the previous values or the cause */
function refuseIncomplete(event: CrmEvent, change: EventMeaning['change']): void {
	const { type, sequence, data: { object, previous, changed } } = event;
	if (isErased(event)) return;
	const refuse = (rule: number, problem: string) => {
		throw ruleBroken(rule, `Event ${sequence} of the log (${type})`, `${problem} Nothing was written.`);
	};
	if (versionNumber(object) === undefined) refuse(12, 'The record in it has no version.');
	const isNamed = (name: string) => eventName(name) === name && name !== allCustomFields;
	if (!changed.every(isNamed)) refuse(15, 'It names a part of a field, or all custom fields at once, as changed.');
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
		if (resource !== undefined) return recordType === 'message' && change !== 'updated' ? explain('sentMessage') : undefined;
		// A job stays as a record of what was done. What it wrote has events of its own.
		return template === '/jobs' ? 'ignored' : explain('setupChange');
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
const limitedSight = (label: string) =>
	`This credential may not see all changes of ${label}. What it does not see is not undone. An API key sees all.`;
const otherCausers =
	'The ID is the last part of the URL in this n8n; nodes that ran before a retry belong to the execution that was retried. For writes with Write Once Per, choose A Workflow; if the CRM’s idempotency keys are short, A User or API Key.';
