import type { IDataObject } from 'n8n-workflow';

import { originOfEvent, tellsOrigin, type CrmEvent } from '../api/crmEvent';
import { deletionHash } from '../api/http/idempotency';
import { idText, isObject } from '../api/http/json';
import { recordName } from '../api/recordName';
import { hasByName, namedValuesOf, topOf, valueByName } from './changedField';
import type { EventMeaning } from './eventMeaning';
import { noteTheirs, withChange, type FieldHistory } from './fieldHistory';
import { addForms, type Forms } from './equivalentFields';
import { CreatedLinks } from './linksToCreated';
import { hasSameValue } from './sameValue';
import { compareStates, recordStateOf, type RecordState } from './recordState';

/** A record that an undo has created in place of a deleted one. */
export interface Copy {
	id: string;
	/** As it was created. */
	state: RecordState;
	/** As its last event has it, whoever caused it. */
	newest: RecordState;
	/** Whether its creation is to be undone, too. */
	isOwn: boolean;
	/** Whether it was changed since. */
	isTouched: boolean;
	isGone: boolean;
}

/** What the changes to be undone have made of one record. */
export interface RecordHistory extends Pick<EventMeaning, 'kind' | 'collection' | 'template'> {
	id: string;
	name?: string;
	isCreated: boolean;
	/** By the name that events give the field. */
	fields: Map<string, FieldHistory>;
	forms?: Forms;
	/** How it was deleted, if that is to be undone. */
	deletion?: { event: string; record: IDataObject; tellsOrigin: boolean };
	/** The records that undos have created in its place, in this order. */
	anew: Copy[];
	/** For a record that a second undo created: the first one, which stays. */
	copyOf?: { id: string; copy: Copy };
	/** As the last change to be undone has left it. */
	state: RecordState;
	/** As its last event has it, whoever caused it. */
	newest: RecordState;
	/** The place of that change in the log. */
	sequence: number;
	/** Whether someone else has changed it since its creation. */
	isTouched: boolean;
	/** Why it cannot be undone. */
	problem?: string;
}

/**
 * What the log says of the records that are to be undone. Events are added in sequence: those to be undone, and
 * all others, which say what became of these records since.
 */
export class Histories {
	private readonly meaningOf: (type: string) => EventMeaning | undefined;
	private readonly refusal: (meaning: EventMeaning) => string | undefined;
	private readonly byRecord = new Map<string, RecordHistory>();
	/** By the record that was created in its place. */
	private readonly byAnew = new Map<string, { history: RecordHistory; copy: Copy }>();
	private readonly byDeletion = new Map<string, RecordHistory>();
	/** Who links to the created records. */
	readonly links = new CreatedLinks();

	/**
	 * @param meaningOf of a type of event
	 * @param refusal why the records of a kind cannot be undone; empty for those that need not be
	 */
	constructor(meaningOf: Histories['meaningOf'], refusal: Histories['refusal']) {
		this.meaningOf = meaningOf;
		this.refusal = refusal;
	}

	/** @param isOwn whether the event is to be undone */
	add(event: CrmEvent, isOwn: boolean): void {
		const meaning = this.meaningOf(event.type) ?? unknown(event.type);
		const id = idText(event.data.object.id) ?? '';
		const record = `${meaning.collection}/${id}`;
		const history = this.byRecord.get(record);
		if (isOwn) this.addOwn(event, meaning, id, history);
		else {
			const affectedHistory = history ?? this.byAnew.get(record)?.history;
			if (affectedHistory && meaning.change !== undefined) addTheirs(event, meaning, affectedHistory);
			if (affectedHistory && meaning.change === 'deleted') this.byDeletion.set(deletionHash(event.id), affectedHistory);
		}
		const currentHistory = this.byRecord.get(record);
		if (currentHistory) currentHistory.newest = recordStateOf(event.data.object);
		this.addLater(event, !isOwn, isOwn);
	}

	/**
	 * Notes what was created in place of deleted records, which created records are linked, and which of these others
	 * have changed.
	 *
	 * @param isTheirs whether neither the changes to be undone nor the undo have caused it
	 * @param isOwn whether it is to be undone
	 * @returns whether such a record was changed, or links to a created one
	 */
	addLater(event: CrmEvent, isTheirs: boolean, isOwn = false): boolean {
		const meaning = this.meaningOf(event.type) ?? unknown(event.type);
		const id = idText(event.data.object.id) ?? '';
		const record = `${meaning.collection}/${id}`;
		const { copy } = this.byAnew.get(record) ?? {};
		if (copy) copy.newest = recordStateOf(event.data.object);
		if (copy && meaning.change === 'updated') copy.isTouched = true;
		if (copy && meaning.change === 'deleted') copy.isGone = true;
		if (meaning.change === 'created' && !isOwn) this.createdAnew(event, id, false);
		const created = meaning.change === 'updated' && isTheirs ? this.byRecord.get(record) : undefined;
		if (created?.isCreated) created.isTouched = true;
		return this.links.add(record, event, meaning) || copy !== undefined || created?.isCreated === true;
	}

	/** The records to undo, the last changed one first. */
	all(): RecordHistory[] {
		return [...this.byRecord.values()].sort((a, b) => b.sequence - a.sequence);
	}

	private addOwn(event: CrmEvent, meaning: EventMeaning, id: string, existingHistory: RecordHistory | undefined): void {
		const { object } = event.data;
		const refusal = this.refusal(meaning);
		if (refusal === '') return;
		// An event such as deal.won comes beside the one that says what was changed.
		if (meaning.change === undefined && existingHistory && refusal === undefined && isAside(existingHistory.state, object)) return;
		const replaced = meaning.change === 'created' ? this.createdAnew(event, id, true) : undefined;
		const history = existingHistory ?? newHistory(meaning, id);
		this.byRecord.set(`${meaning.collection}/${id}`, history);
		const name = recordName(object);
		if (name !== undefined) history.name = name;
		history.state = recordStateOf(object);
		history.sequence = event.sequence;

		if (refusal !== undefined) history.problem = refusal;
		else if (id === '' || meaning.change === undefined) history.problem = notUnderstood(event.type);
		else if (meaning.change === 'created') {
			const isKnownNew = isNew(event);
			if (isKnownNew !== true) history.problem = isKnownNew === undefined ? maybeCreated : notCreated;
			history.isCreated = replaced?.deletion ? replaced.isCreated : true;
			if (history.isCreated) this.links.watch(id);
		} else if (meaning.change === 'updated') addChange(history, event);
		else {
			if ([...history.fields].some(([field, { isOmitted }]) => !isOmitted && !hasByName(object, field))) history.problem = partOfRecord;
			history.deletion = { event: event.id, record: object, tellsOrigin: tellsOrigin(event) };
			this.byDeletion.set(deletionHash(event.id), history);
		}
	}

	/** Notes a record that an undo has created. @returns the one in whose place it is */
	private createdAnew(event: CrmEvent, id: string, isOwn: boolean): RecordHistory | undefined {
		const { hash = '' } = originOfEvent(event) ?? {};
		const deleted = this.byDeletion.get(hash);
		const record = deleted && `${deleted.collection}/${id}`;
		if (!record || this.byAnew.has(record)) return deleted;
		const state = recordStateOf(event.data.object);
		const copy = { id, state, newest: state, isOwn, isTouched: false, isGone: false };
		deleted.anew.push(copy);
		this.byAnew.set(record, { history: deleted, copy });
		if (deleted.anew.length > 1) this.links.watch(id);
		return deleted;
	}
}

function addChange(history: RecordHistory, { sequence, data: { object, previous, changed } }: CrmEvent): void {
	// What a service leaves out of `changed`, it may still have in `previous`.
	const differing = namedValuesOf(previous ?? {}).flatMap(([name, value]) => (hasByName(object, name) && !hasSameValue(value, valueByName(object, name)) ? [name] : []));
	const names = new Set(changed.length > 0 ? [...changed, ...differing.filter((name) => !changed.includes(topOf(name)))] : Object.keys(previous ?? {}));
	if (names.size === 0) history.problem = noFormerValues;
	const together: Parameters<typeof addForms>[1] = [];
	for (const name of names) {
		if (!previous || !hasByName(previous, name)) {
			history.problem = noFormerValues;
			continue;
		}
		const [before, after] = [valueByName(previous, name) ?? null, valueByName(object, name) ?? null];
		if (isObject(before) && isObject(after) && Object.keys(after).some((member) => !Object.hasOwn(before, member))) history.problem = partOfFormerValue(name);
		const field = withChange(history.fields.get(name), { sequence, before, after });
		field.isOmitted = isOmitted(object, name);
		history.fields.set(name, field);
		together.push([name, { before, after }]);
	}
	const forms = addForms(history.forms, together);
	if (forms) history.forms = forms;
}

function addTheirs({ sequence, data: { object, previous, changed } }: CrmEvent, { change }: EventMeaning, history: RecordHistory): void {
	history.isTouched = true;
	// What is created again has the values that were deleted.
	if (change === 'deleted') return;
	for (const [name, field] of history.fields) {
		if (changed.length > 0 && !changed.includes(name)) continue;
		const isKnown = previous && hasByName(previous, name) && hasByName(object, name);
		field.isOmitted = previous !== null && hasByName(previous, name) && isOmitted(object, name);
		noteTheirs(field, sequence, isKnown ? { before: valueByName(previous, name), after: valueByName(object, name) } : undefined);
	}
}

/** Whether a record has custom fields, but not this one: a service may leave out those that are empty. */
const isOmitted = (record: IDataObject, name: string): boolean =>
	name.startsWith('custom_fields.') && isObject(record['custom_fields']) && !hasByName(record, name);

/** Whether the event's record is new: for a user, one that comes into sight is created, too. Undefined if that is not known. */
const isNew = ({ timestamp, data: { object: { version, created_at: created, updated_at: updated } } }: CrmEvent): boolean | undefined => {
	// Versions that do not count are hashes or times.
	if (/^\d{1,9}$/.test(String(version))) return Number(version) <= 1;
	if (typeof created !== 'string') return undefined;
	return created === updated || Math.abs(Date.parse(timestamp) - Date.parse(created)) < 2000;
};

/** Whether an event has the state that the one before it has left. */
const isAside = (state: RecordState, object: IDataObject): boolean => ['same', 'unknown'].includes(compareStates(recordStateOf(object), state));

const newHistory = ({ kind, collection, template }: EventMeaning, id: string): RecordHistory => ({
	kind,
	collection,
	template,
	id,
	isCreated: false,
	fields: new Map(),
	anew: [],
	state: {},
	newest: {},
	sequence: 0,
	isTouched: false,
});

const unknown = (type: string): EventMeaning => ({ kind: type, collection: type, template: type });

/** Tells whether a value names a record whose deletion is to be undone. */
export function deletedLinks(histories: RecordHistory[]): (value: unknown) => boolean {
	const deleted = new Set(histories.flatMap(({ deletion, isCreated, id }) => (deletion && !isCreated ? [id] : [])));
	const names = (value: unknown): boolean =>
		typeof value === 'string' ? deleted.has(value) : typeof value === 'object' && value !== null && Object.values(value).some(names);
	return names;
}

const noFormerValues = 'The service does not report the earlier values.';
const partOfFormerValue = (name: string) => `The service reports only a part of the earlier value of ${name}.`;
export const partOfRecord = 'The service reports only a part of the record that was deleted.';
const notCreated = 'The service reports it as created, but it existed before, and only became visible to this credential. Undo it with a credential that sees all records.';
const maybeCreated = 'The service reports it as created, but not whether it was new. Delete it by hand.';
const notUnderstood = (type: string) => `The service reports ${type}, which the node does not understand.`;
