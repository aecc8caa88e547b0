import { type KeyOrigin, originOf } from '../api/http/idempotency';
import { withoutParameterNames } from '../api/http/path';
import { ruleBroken } from '../api/http/rules';
import type { EventCatalog } from '../api/openapi/eventTypes';
import { idText } from '../base/json';
import { getOrCreate } from '../base/maps';
import { allCustomFields } from '../fields/field';
import { type Cause, causeOf } from '../log/cause';
import { type CrmEvent, isErased, meaningOfType } from '../log/crmEvent';
import { hasField, nameInEvents } from '../log/eventFields';
import type { EventLog } from '../log/eventLog';
import type { NodeRun, Resource } from '../model';
import { versionNumber } from '../writing/versions';
import { explain } from './reasons';
import { type LoggedEvent, RecordHistories, recordKey, type UndoMeaning } from './recordHistories';
import { readUndoFields, type UndoFields } from './undoFields';
import type { CauserChoice, UndoSettings } from './undoSettings';
import { UndoLinks } from './undoLinks';

/**
 * Reads the log from the chosen time on.
 *
 * @throws Error in the user's words if it does not reach back to that time, or lacks what an undo needs
 */
export async function readLoggedChanges(run: NodeRun, log: EventLog, settings: UndoSettings): Promise<LoggedChanges> {
	const first = await firstEvent(run, log, settings);
	const logged = new LoggedChanges({ run, log, settings, catalog: await run.api.describeEvents() });
	if (!first) return logged;
	await logged.readFrom(first);
	if (settings.isSightLimited) run.api.notices.add(limitedSight(settings.causer.label));
	return logged;
}

/** The first event from the chosen time on. @throws Error in the user's words if the log does not reach back to that */
async function firstEvent({ api }: NodeRun, log: EventLog, { since: sinceTime, allowsPartialUndo }: UndoSettings): Promise<CrmEvent | undefined> {
	const since = sinceTime === undefined ? undefined : new Date(sinceTime).toISOString();
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

/** The log as far as it was read, and the records that it is about. */
export class LoggedChanges {
	readonly histories = new RecordHistories();
	readonly links: UndoLinks;
	/** The fields of the record types of which changes are to be undone, by their collections. */
	readonly fields = new Map<string, UndoFields>();
	/** How many changes to undo were made after the log was read. */
	lateCount = 0;
	/** How many it had until then, to records of any type. */
	private count = 0;
	private lastSequence = 0;
	/** By types of events. */
	private readonly meanings = new Map<string, UndoMeaning>();
	private readonly source: { run: NodeRun; log: EventLog; settings: UndoSettings; catalog: EventCatalog };

	constructor(source: LoggedChanges['source']) {
		this.source = source;
		this.links = new UndoLinks(source.run.api, source.settings);
	}

	/**
	 * @throws Error in the user's words if an event or a record type lacks what an undo needs, if an event erased a record for
	 * good, or if several executions have the number of the one to undo
	 */
	async readFrom(first: CrmEvent): Promise<void> {
		const { run, log, settings: { causer, onlyIds } } = this.source;
		let firstOrigin: KeyOrigin | undefined;
		for await (const event of log.allAfter(first.sequence - 1)) {
			this.lastSequence = event.sequence;
			const [meaning, cause] = [this.meaningOf(event), causeOf(event)];
			const isToUndo = this.isToUndo(event, cause);
			if (isToUndo) {
				firstOrigin ??= cause.origin;
				if (causer.type === 'execution') refuseSharedNumber(causer, firstOrigin!, cause.origin!);
				// Whatever the choice of records: a name that others of the changes removed belongs to the erasure.
				if (event.type.endsWith('.erased')) throw new Error(erased(causer.label, event));
				this.count++;
			}
			refuseIncomplete(event, meaning, cause);
			const isChosen = isToUndo && !meaning.isIgnored && (onlyIds?.has(String(event.data.object.id)) ?? true);
			if (isChosen && !this.fields.has(meaning.collection)) this.fields.set(meaning.collection, await readUndoFields(run, meaning));
			if (isChosen && !meaning.notUndoable) this.fields.get(meaning.collection)!.requireVersions(meaning.collection);
			await this.add(event, meaning, cause, isToUndo ? 'changes to undo' : 'others');
		}
	}

	private meaningOf({ type }: CrmEvent): UndoMeaning {
		return getOrCreate(this.meanings, type, () => undoMeaning(type, this.source));
	}

	private isToUndo({ timestamp }: CrmEvent, cause: Cause): boolean {
		const { causer, since, until } = this.source.settings;
		const time = Date.parse(timestamp);
		return (since === undefined || time >= since) && (until === undefined || time <= until) && hasCaused(causer, cause);
	}

	private async add(event: CrmEvent, meaning: UndoMeaning, cause: Cause, by: LoggedEvent['by']): Promise<void> {
		const id = idText(event.data.object.id) ?? '';
		const key = recordKey({ collection: meaning.collection, id });
		const logged: LoggedEvent = { event, meaning, cause, by, id, key, fields: this.fields.get(meaning.collection) };
		const history = this.histories.add(logged);
		await this.links.add(logged, history?.isCreated === true);
	}

	/**
	 * Reads new events, which may have created a record again, changed such a record or one to delete, or linked to one to
	 * delete. A further change to undo among them is only counted: whoever made it is still making changes.
	 *
	 * @returns whether any of them may have linked to a record: it was no deletion
	 */
	async catchUp(): Promise<boolean> {
		const { log, run: { identity: { instance, workflow, execution, started } } } = this.source;
		const thisUndo = { ...originOf(instance, workflow, execution), ...(started !== undefined && { started }) };
		let mayHaveLinked = false;
		for await (const event of log.allAfter(this.lastSequence)) {
			if (event.sequence <= this.lastSequence) continue;
			this.lastSequence = event.sequence;
			const [meaning, cause] = [this.meaningOf(event), causeOf(event)];
			const isByThisUndo = isByExecution(thisUndo, cause);
			await this.add(event, meaning, cause, isByThisUndo ? 'this undo' : 'others');
			if (!isByThisUndo && this.isToUndo(event, cause)) this.lateCount++;
			mayHaveLinked ||= meaning.change !== 'deleted';
		}
		return mayHaveLinked;
	}

	whyNothing(): string {
		const { causer: { label, type }, onlyIds, recordTypes, since } = this.source.settings;
		const concerned = onlyIds ? 'the records in Only These Records' : recordTypes.length > 0 ? 'the chosen Record Types' : 'a record';
		const changes = `${this.count.toLocaleString('en')} ${this.count === 1 ? 'change' : 'changes'}`;
		if (this.count > 0) return `${label} made ${changes}, but none to ${concerned}.`;
		if (this.lastSequence === 0) return since === undefined ? 'The log of the CRM is empty.' : 'The log of the CRM has nothing since then.';
		return `No changes by ${label} are in the log.${type === 'actor' ? '' : ` ${otherCausers}`}`;
	}
}

/** The record type of a collection; undefined for setup, and for events whose type is not described. */
export const undoableResource = (template: string, { undoableTypes }: UndoSettings): Resource | undefined =>
	undoableTypes.find(({ path }) => withoutParameterNames(path) === withoutParameterNames(template));

function undoMeaning(type: string, { catalog, settings }: { catalog: EventCatalog; settings: UndoSettings }): UndoMeaning {
	const undescribed = `/events/${type}` as const;
	const meaning = meaningOfType(catalog, type) ?? { typeName: type, collection: undescribed, template: undescribed };
	const resource = undoableResource(meaning.template, settings);
	const isChosen = settings.recordTypes.length === 0 || (resource !== undefined && settings.recordTypes.includes(resource.value));
	const isSentMessage = meaning.typeName === 'message' && meaning.change !== 'updated';
	const notUndoable = !resource ? explain('setupChange') : isSentMessage ? explain('sentMessage') : undefined;
	// A job stays as a record of what was done. What it wrote has events of its own.
	return { ...meaning, isIgnored: !isChosen || (!resource && meaning.template === '/jobs'), notUndoable };
}

/** @throws Error in the user's words if an event of a record lacks the version, the previous values or the cause */
function refuseIncomplete(event: CrmEvent, { change, isIgnored, notUndoable }: UndoMeaning, cause: Cause): void {
	const { type, sequence, data: { object, previous, changed } } = event;
	if (change === undefined || isIgnored || notUndoable || isErased(event)) return;
	const refuse = (rule: number, lack: string) => {
		throw ruleBroken(rule, `Event ${sequence} of the log (${type})`, `${lack} Nothing was written.`);
	};
	if (versionNumber(object) === undefined) refuse(12, 'The record in it has no version.');
	const isNamed = (name: string) => nameInEvents(name) === name && name !== allCustomFields;
	if (!changed.every(isNamed)) refuse(15, 'It names a part of a field, or all custom fields at once, as changed.');
	const hasValues = previous !== null && changed.length > 0 && changed.every((name) => hasField(previous, name));
	if (change === 'updated' && !hasValues) refuse(15, 'It does not have the previous values of the changed fields.');
	if (!cause.isRequestKnown) refuse(15, 'It does not say which request caused it.');
}

function hasCaused({ type, id, origin: expected }: CauserChoice, { origin, actor }: Cause): boolean {
	if (type === 'actor') return actor === id;
	if (origin?.instance !== expected.instance) return false;
	if (type === 'workflow') return origin.workflow === expected.workflow;
	return type === 'instance' || origin.execution === expected.execution;
}

/** Whether two origins of one n8n and with one number are the same execution. */
const isSameExecution = (a: KeyOrigin, b: KeyOrigin): boolean => a.workflow === b.workflow && a.started === b.started;

/** @param execution its origin, with when it began */
const isByExecution = (execution: KeyOrigin, { origin }: Cause): boolean =>
	origin?.instance === execution.instance && origin.execution === execution.execution && isSameExecution(origin, execution);

/**
 * A new database, one restored from a backup, or a second one with the same encryption key counts from an earlier number again.
 *
 * @throws Error in the user's words if two origins with the number of an execution are not the same execution
 */
function refuseSharedNumber({ id }: CauserChoice, first: KeyOrigin, origin: KeyOrigin): void {
	if (isSameExecution(first, origin)) return;
	const executions = [first, origin].map(({ workflow, started }) =>
		`one of workflow ${workflow}${started === undefined ? '' : ` that began at ${new Date(started).toISOString()}`}`);
	throw new Error(`Several executions have the number ${id}: ${executions.join(' and ')}. Nothing was written. Choose A Workflow, with Since and Until around the execution.`);
}

const shortLog = (begin: string) =>
	`Since: the CRM’s log only goes back to ${begin}, so earlier changes cannot be undone. Nothing was written. Set Since to ${begin} or later, or turn on Allow Partial Undo.`;
const emptyLog =
	'Since: the log of the CRM is empty, so the changes since then are unknown. Nothing was written. If nothing was changed, there is nothing to undo.';
const erased = (label: string, { type, data: { object } }: CrmEvent) =>
	`Changes of ${label} erased the ${type.replace(/\.erased$/, '')} ${String(object.id)} permanently, which cannot be undone. Their changes of other records may have removed what names it, so they are not undone, either, whichever records are chosen. Nothing was written. Choose other changes, or limit Since and Until.`;
const limitedSight = (label: string) =>
	`This credential may not see all changes of ${label}. What it does not see is not undone. An API key sees all.`;
const otherCausers =
	'The ID is the last part of the URL in this n8n; nodes that ran before a retry belong to the execution that was retried. For writes with Write Once Per, choose A Workflow; if the CRM’s idempotency keys are short, A User or API Key.';
