import type { Connection } from '../api/connection';
import { readRecordFields } from '../api/customFields';
import type { Collection } from '../api/http/path';
import { notReadable } from '../api/http/statuses';
import { linkedIdsIn, linkTarget } from '../api/openapi/linkFields';
import { linkName } from '../api/openapi/listing';
import { undefinedIfAnsweredWith } from '../api/refusals';
import { idText, possibleIdsIn } from '../base/json';
import { getOrCreate, reachable } from '../base/maps';
import type { FieldChange } from '../changes/recordChange';
import { type Field, unknownCollection } from '../fields/field';
import { isNumeric, valueKind } from '../fields/fieldKinds';
import type { EventMeaning } from '../log/crmEvent';
import { eventName, fieldEntries } from '../log/eventFields';
import { namesAt } from '../lookUp/linkedNames';
import { explain, sentences } from './reasons';
import { type LoggedEvent, recordKey, type Substitutes, withSubstitutes } from './recordHistories';
import { type RecordUndo, withoutFields } from './recordUndo';
import type { UndoChoices } from './undoForm';

/**
 * The links that an undo must not break, nor write: to created records, which are to be deleted, and to records that do not
 * exist. The log shows the former; the latter are looked up when the plan is known.
 */
export class UndoLinks {
	/** The names of the records that the plan links to, by their keys. */
	readonly names = new Map<string, string>();
	/** The keys of the records that the plan links to, but that did not exist when they were looked up. */
	private readonly absent = new Set<string>();
	/** The ids of the records that exist in place of deleted ones. */
	private newIds: Substitutes = new Map();
	/** The keys of created records by their ids, which records of several types may share. */
	private readonly keysById = new Map<string, Set<string>>();
	/** What each record type links to, by its collection, and by field. What is unknown may link to anything. */
	private readonly targets = new Map<string, ReadonlyMap<string, Collection[]>>();
	/** The created records that each record links to after its last event, by field. */
	private readonly linksByRecord = new Map<string, Map<string, string[]>>();
	private readonly api: Connection;
	private readonly takesPrecedence: boolean;

	constructor(api: Connection, { takesPrecedence }: Pick<UndoChoices, 'takesPrecedence'>) {
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
		const targets = this.targets.get(collection)?.get(eventName(field)) ?? [unknownCollection];
		return possibleIdsIn(value).flatMap((id) => [...(this.keysById.get(id) ?? [])].filter((key) =>
			targets.some((target) => target === unknownCollection || key === recordKey({ collection: target, id }))));
	}

	/** Looks up which of the records exist that a plan links to, and the names of all. @param newIds in place of deleted records */
	async lookUp(newIds: Substitutes, undos: RecordUndo[]): Promise<void> {
		this.newIds = newIds;
		const idsByCollection = new Map<Collection, Set<string>>();
		for (const undo of undos) {
			const targets = undo.changes.flatMap(({ field, from, to }) => [to, from].flatMap((value) => targetsIn(linkOf(undo, field), value)));
			for (const { collection, id } of targets) getOrCreate(idsByCollection, collection, () => new Set<string>()).add(id);
		}
		for (const [collection, ids] of idsByCollection) {
			// If these records cannot be read, the service reports the links that it refuses.
			const found = await namesAt(this.api, collection, [...ids]).catch(undefinedIfAnsweredWith(...notReadable));
			if (!found) continue;
			for (const id of ids) {
				const [key, name] = [recordKey({ collection, id }), found.get(id)];
				if (!found.has(id)) this.absent.add(key);
				else if (name) this.names.set(key, name);
			}
		}
	}

	/** Notes that a record was created in place of a deleted one. */
	addNewId(key: string, newId: string): void {
		this.newIds.set(key, newId);
	}

	/** Whether an undo links to one of the records that are to be created again. */
	waitsFor(undo: RecordUndo, creations: ReadonlySet<string>): boolean {
		return creations.size > 0 && undo.changes.some(({ field, to, kept }) =>
			!kept && targetsIn(linkOf(undo, field), to).some(({ key }) => creations.has(key) && this.isMissing(key)));
	}

	/**
	 * An undo with links to existing records only: links to missing records are left out, and links to records that were
	 * created again get their new ids. A field stays if no link is left, or only those that it has.
	 *
	 * @param creations the records that are created before, as far as they are missing
	 */
	withLiveLinks(undo: RecordUndo, creations: ReadonlySet<string> = new Set()): RecordUndo {
		if (undo.action !== 'update' && undo.action !== 'create') return undo;
		const isDead = ({ key }: { key: string }) => this.isMissing(key) && !creations.has(key);
		const [withoutLink, lost] = [new Set<string>(), new Set<string>()];
		const changes = undo.changes.map((change): FieldChange => {
			const { field, from, to, kept } = change;
			const link = kept ? undefined : linkOf(undo, field);
			if (!link) return change;
			if (!targetsIn(link, to).some(isDead)) return { ...change, to: withSubstitutes(this.newIds, link, to) };
			withoutLink.add(field);
			const liveEntries = Array.isArray(to) ? to.filter((entry) => !targetsIn(link, entry).some(isDead)) : [];
			const liveValue = withSubstitutes(this.newIds, link, liveEntries);
			if (liveEntries.length > 0 && !undo.fields.compare.isSame(field, from, liveValue)) return { ...change, to: liveValue };
			lost.add(eventName(field));
			return change;
		});
		if (withoutLink.size === 0) return { ...undo, changes };
		const reason = sentences(undo.reason, explain('missingLinks', [...withoutLink].join(', ')).reason);
		return withoutFields({ ...undo, changes, reason }, lost);
	}

	private isMissing(key: string): boolean {
		return this.absent.has(key) && !this.newIds.has(key);
	}
}

/** What the fields of a record type link to, by the names that events give them. */
async function readTargets(api: Connection, { collection, template }: EventMeaning): Promise<ReadonlyMap<string, Collection[]>> {
	const { fields } = await readRecordFields(api, template, collection);
	const targets = new Map<string, Collection[]>();
	for (const field of fields) getOrCreate(targets, eventName(field.name), () => []).push(...targetsOf(field));
	return targets;
}

/** What a field may link to. Only a number, not in an object, that is called neither a link nor an id is certainly none. */
function targetsOf(field: Field): Collection[] {
	const { name, collection, linksTo } = field;
	if (collection !== undefined || linksTo) return [linkTarget(field) ?? [], linksTo ?? []].flat();
	const kind = valueKind(field);
	return kind !== undefined && isNumeric({ kind }) && !linkName.test(name) ? [] : [unknownCollection];
}

/** Whether a field gets its previous value: the undo writes it, or the service derives it from a written field. */
const isRestoredField = ({ changes, history }: RecordUndo, name: string): boolean =>
	history.fieldHistories.has(name) && !changes.some(({ field, kept }) => field === name && kept);

export const linkOf = ({ fields, action }: RecordUndo, name: string): Field | undefined =>
	fields.writtenLink(action === 'create' ? 'create' : 'update', name);

/** The records that a link names, or their parts: the collection of parts is like `/pipelines.stages`. */
export const targetsIn = (link: Field | undefined, value: unknown) =>
	(link ? linkedIdsIn(link, value) : []).flatMap(([collection, linked]) => {
		const id = idText(linked);
		return id === undefined ? [] : [{ collection, id, key: recordKey({ collection, id }) }];
	});
