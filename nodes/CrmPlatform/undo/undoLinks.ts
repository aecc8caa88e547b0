import type { Connection } from '../api/connection';
import { readRecordFields } from '../api/customFields';
import type { Collection } from '../api/http/path';
import { notReadable } from '../api/http/statuses';
import { linkTarget, linkedIdsIn } from '../api/openapi/linkFields';
import { linkName } from '../api/openapi/listing';
import { undefinedIfAnsweredWith } from '../api/refusals';
import { possibleIdsIn, idText } from '../base/json';
import { getOrCreate, reachable } from '../base/maps';
import type { FieldChange } from '../changes/apply';
import { type Field, unknownCollection } from '../fields/field';
import type { EventMeaning } from '../log/crmEvent';
import { fieldEntries, nameInEvents } from '../log/eventFields';
import { namesAt } from '../lookUp/linkedNames';
import { hasNumbers } from '../lookUp/names';
import { explain, sentences } from './reasons';
import { type LoggedEvent, recordKey, type Substitutes, withSubstitutes } from './recordHistories';
import { type RecordUndo, withoutFields } from './recordUndo';
import type { UndoSettings } from './undoSettings';

/** The links to created records, which are to be deleted, as the log shows them: an undo must not break them, nor write such ones. */
export class UndoLinks {
	/** The keys of created records by their ids, which records of several types may share. */
	private readonly keysById = new Map<string, Set<string>>();
	/** What each record type links to, by its collection, and by field. What is unknown may link to anything. */
	private readonly targets = new Map<string, ReadonlyMap<string, Collection[]>>();
	/** The created records that each record links to after its last event, by field. */
	private readonly linksByRecord = new Map<string, Map<string, string[]>>();
	private readonly api: Connection;
	private readonly takesPrecedence: boolean;

	constructor(api: Connection, { takesPrecedence }: Pick<UndoSettings, 'takesPrecedence'>) {
		this.api = api;
		this.takesPrecedence = takesPrecedence;
	}

	/** Updates the links of the record of an event, whoever caused it. @param isCreated whether its creation is to be undone */
	async add({ event, meaning, key, id }: LoggedEvent, isCreated: boolean): Promise<void> {
		const { change, collection } = meaning;
		// Where ids are numbers, an amount may equal one.
		if (/^\d+$/.test(id) && !this.targets.has(collection)) this.targets.set(collection, await readTargets(this.api, meaning));
		if (isCreated) getOrCreate(this.keysById, id, () => new Set()).add(key);
		if (this.keysById.size === 0) return;
		const byField = new Map<string, string[]>();
		for (const [name, value] of change === 'deleted' ? [] : fieldEntries(event.data.object)) {
			// A version may be the same number as an id.
			const keys = name === 'id' || name === 'version' ? [] : this.createdIn(collection, name, value);
			if (keys.length > 0) byField.set(name, keys);
		}
		if (byField.size > 0) this.linksByRecord.set(key, byField);
		else this.linksByRecord.delete(key);
	}

	/**
	 * The keys of the created records that are linked from undone records and, unless the undo takes precedence, from others.
	 *
	 * @param when the undos are done, or now: as far as the log shows the links
	 */
	linkedKeys(undos: RecordUndo[], when: 'done' | 'now'): ReadonlySet<string> {
		const linkedKeys = this.keysWrittenBy(undos);
		if (this.takesPrecedence || this.linksByRecord.size === 0) return linkedKeys;
		const undoByRecord = new Map(undos.map((undo) => [undo.history.key, undo]));
		const linkedByDeleted = new Map<string, string[]>();
		for (const [record, byField] of this.linksByRecord) {
			const undo = undoByRecord.get(record);
			for (const [name, keys] of byField) {
				const isReplaced = when === 'done' && undo?.action === 'update' && isRestoredField(undo, name);
				if (isReplaced) continue;
				if (undo?.action === 'delete') getOrCreate(linkedByDeleted, record, () => []).push(...keys);
				else for (const key of keys) linkedKeys.add(key);
			}
		}
		// What is linked is not deleted, so its own links stay, too.
		return reachable(linkedKeys, (key) => linkedByDeleted.get(key) ?? []);
	}

	/** The keys of the other created records that a record links to, as far as the log shows. */
	linkedFrom({ key }: Pick<LoggedEvent, 'key'>): string[] {
		return [...(this.linksByRecord.get(key)?.values() ?? [])].flat().filter((linkedKey) => linkedKey !== key);
	}

	/** The keys of the created records to which undos write links. */
	private keysWrittenBy(undos: RecordUndo[]): Set<string> {
		if (this.keysById.size === 0) return new Set();
		return new Set(undos.flatMap(({ action, changes, history }) => {
			if (action !== 'update' && action !== 'create') return [];
			// Fields that the service derives from a written field get their previous values, too.
			const derived = [...history.fieldHistories].flatMap(([field, { before, othersSince }]) => (othersSince ? [] : [{ field, to: before }]));
			return [...changes.filter(({ kept }) => !kept), ...derived].flatMap(({ field, to }) => this.createdIn(history.collection, field, to));
		}));
	}

	private createdIn(collection: string, field: string, value: unknown): string[] {
		const targets = this.targets.get(collection)?.get(nameInEvents(field)) ?? [unknownCollection];
		return possibleIdsIn(value).flatMap((id) => [...(this.keysById.get(id) ?? [])].filter((key) =>
			targets.some((target) => target === unknownCollection || key === recordKey({ collection: target, id }))));
	}
}

/** By the names that events give the fields. */
async function readTargets(api: Connection, { collection, template }: EventMeaning): Promise<ReadonlyMap<string, Collection[]>> {
	const { fields } = await readRecordFields(api, template, collection);
	const targets = new Map<string, Collection[]>();
	for (const field of fields) getOrCreate(targets, nameInEvents(field.name), () => []).push(...targetsOf(field));
	return targets;
}

/** What a field may link to. Only a number, not in an object, that is called neither a link nor an id is certainly none. */
function targetsOf(field: Field): Collection[] {
	const { name, target, linksTo } = field;
	if (target !== undefined || linksTo) return [linkTarget(field) ?? [], linksTo ?? []].flat();
	return hasNumbers(field) && !linkName.test(name) ? [] : [unknownCollection];
}

/** Whether a field gets its previous value: the undo writes it, or the service derives it from a written field. */
const isRestoredField = ({ changes, history }: RecordUndo, name: string): boolean =>
	history.fieldHistories.has(name) && !changes.some(({ field, kept }) => field === name && kept);

/** The records that a plan links to, by their keys. */
export interface LinkTargets {
	names: ReadonlyMap<string, string>;
	/** Those that did not exist when they were looked up. */
	absent: ReadonlySet<string>;
	/** The ids of the records that exist in place of deleted ones. */
	newIds: Substitutes;
}

/** Looks up which of the records exist that a plan links to, and the names of all. */
export async function lookUpTargets(api: Connection, newIds: Substitutes, undos: RecordUndo[]): Promise<LinkTargets> {
	const [names, absent] = [new Map<string, string>(), new Set<string>()];
	const idsByCollection = new Map<Collection, Set<string>>();
	for (const undo of undos) {
		const targets = undo.changes.flatMap(({ field, from, to }) => [to, from].flatMap((value) => targetsIn(linkOf(undo, field), value)));
		for (const { collection, id } of targets) getOrCreate(idsByCollection, collection, () => new Set<string>()).add(id);
	}
	for (const [collection, ids] of idsByCollection) {
		// If these records cannot be read, the service reports the links that it refuses.
		const found = await namesAt(api, collection, [...ids]).catch(undefinedIfAnsweredWith(...notReadable));
		if (!found) continue;
		for (const id of ids) {
			const [key, name] = [recordKey({ collection, id }), found.get(id)];
			if (!found.has(id)) absent.add(key);
			else if (name) names.set(key, name);
		}
	}
	return { names, absent, newIds };
}

const isMissing = ({ absent, newIds }: LinkTargets, key: string): boolean => absent.has(key) && !newIds.has(key);

/** Whether an undo links to one of the records that are to be created again. */
export function waitsFor(targets: LinkTargets, undo: RecordUndo, creations: ReadonlySet<string>): boolean {
	return creations.size > 0 && undo.changes.some(({ field, to, kept }) =>
		!kept && targetsIn(linkOf(undo, field), to).some(({ key }) => creations.has(key) && isMissing(targets, key)));
}

/**
 * Leaves out links to missing records; those to records created again get their new ids. A field stays if no link is left, or only those it has.
 *
 * @param creations the records that are created before, as far as they are missing
 */
export function withLiveLinks(targets: LinkTargets, undo: RecordUndo, creations: ReadonlySet<string> = new Set()): RecordUndo {
	if (undo.action !== 'update' && undo.action !== 'create') return undo;
	const isDead = ({ key }: { key: string }) => isMissing(targets, key) && !creations.has(key);
	const [withoutLink, lost] = [new Set<string>(), new Set<string>()];
	const changes = undo.changes.map((change): FieldChange => {
		const { field, from, to, kept } = change;
		const link = kept ? undefined : linkOf(undo, field);
		if (!link) return change;
		if (!targetsIn(link, to).some(isDead)) return { ...change, to: withSubstitutes(targets.newIds, link, to) };
		withoutLink.add(field);
		const liveEntries = Array.isArray(to) ? to.filter((entry) => !targetsIn(link, entry).some(isDead)) : [];
		const liveValue = withSubstitutes(targets.newIds, link, liveEntries);
		if (liveEntries.length > 0 && !undo.fields.compare.isSame(field, from, liveValue)) return { ...change, to: liveValue };
		lost.add(nameInEvents(field));
		return change;
	});
	if (withoutLink.size === 0) return { ...undo, changes };
	const reason = sentences(undo.reason, explain('missingLinks', [...withoutLink].join(', ')).reason);
	return withoutFields({ ...undo, changes, reason }, lost);
}

export const linkOf = ({ fields, action }: RecordUndo, name: string): Field | undefined =>
	fields.writtenLink(action === 'create' ? 'create' : 'update', name);

/** The records that a link names, or their parts: the collection of parts is like `/pipelines.stages`. */
export const targetsIn = (link: Field | undefined, value: unknown) =>
	(link ? linkedIdsIn(link, value) : []).flatMap(([collection, linked]) => {
		const id = idText(linked);
		return id === undefined ? [] : [{ collection, id, key: recordKey({ collection, id }) }];
	});
