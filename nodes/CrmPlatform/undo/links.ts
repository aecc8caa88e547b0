import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import type { Collection } from '../api/http/path';
import { isAnsweredWith } from '../api/record';
import { notReadable } from '../api/http/statuses';
import { linkedIdsIn, withNewId, withReplacedIds } from '../api/openapi/linkFields';
import { idText, possibleIdsIn } from '../base/json';
import { getOrCreate, reachable } from '../base/maps';
import { hasOnlyBlanks } from '../values/blank';
import type { Change } from '../changes/merge';
import type { Field } from '../fields/field';
import { namesAt } from '../lookUp/linkedNames';
import type { CrmEvent, EventMeaning } from '../log/crmEvent';
import { eventName, fieldEntries } from '../log/eventFields';
import { livingRecreation, type RecordHistory } from './history';
import { explain, sentences } from './reasons';
import type { RecordUndo } from './recordUndo';
import type { FieldsByCollection } from './undoFields';

/** Identifies a record among the records of all types. */
export const recordKey = ({ collection, id }: { collection: string; id: string }): string => `${collection}/${id}`;

/** Identifies the record that a link names. */
const linkKey = (target: Collection, id: unknown): string => recordKey({ collection: target, id: idText(id) ?? '' });

/** A record that a link names, or a part of one, such as a stage. */
interface Target {
	/** `/companies`, or `/pipelines.stages` for a part. */
	collection: Collection;
	id: string;
}

/** The links of a plan: which of the linked records exist, their names, and which have another id now. */
export class LiveLinks {
	private readonly fields: FieldsByCollection;
	private readonly missingRecords = new Set<string>();
	private readonly names = new Map<string, string>();
	private readonly newIds = new Map<string, string>();

	constructor(fields: FieldsByCollection, histories: RecordHistory[]) {
		this.fields = fields;
		for (const history of histories) {
			const recreation = livingRecreation(history);
			if (recreation) this.replaceId(history, recreation.id);
		}
	}

	/** Links to a deleted record become links to the record that was created in its place. */
	replaceId(history: RecordHistory, newId: string): void {
		this.newIds.set(recordKey(history), newId);
	}

	/** A value of a field with the ids of the records that were created again. @param field if it is a link */
	withNewIds(value: unknown, field: Field | undefined): unknown {
		return (field ? withReplacedIds(field, value, (target, id) => withNewId(id, this.newIds.get(linkKey(target, id)))) : value) ?? null;
	}

	/** Looks up which of the records exist that a plan links to, and the names of all. */
	async lookUp(api: Connection, undos: RecordUndo[]): Promise<void> {
		const idsByCollection = new Map<Collection, Set<string>>();
		for (const undo of undos) {
			const targets = undo.changes.flatMap(({ field, from, to }) => [to, from].flatMap((value) => this.targetsOf(undo, field, value)));
			for (const { collection, id } of targets) getOrCreate(idsByCollection, collection, () => new Set<string>()).add(id);
		}
		for (const [collection, ids] of idsByCollection) {
			const found = await namesAt(api, collection, [...ids]).catch((error: unknown) => {
				// If these records cannot be read, the service reports the links that it refuses.
				if (isAnsweredWith(error, ...notReadable)) return undefined;
				throw error;
			});
			if (!found) continue;
			for (const id of ids) {
				const [key, name] = [recordKey({ collection, id }), found.get(id)];
				if (!found.has(id)) this.missingRecords.add(key);
				else if (name) this.names.set(key, name);
			}
		}
	}

	/** Whether an undo links to one of the records that are to be created again. */
	waitsFor(undo: RecordUndo, creations: ReadonlySet<string>): boolean {
		return creations.size > 0 && undo.changes.some(({ field, to, kept }) =>
			!kept && this.targetsOf(undo, field, to).map(recordKey).some((key) => creations.has(key) && this.isMissing(key)));
	}

	/**
	 * Prepares an undo for the records that exist: links to missing records are left out, and links to records that were
	 * created again get their new ids. A field stays if no link is left, or only those that it has.
	 *
	 * @param creations the records that are created before, as far as they are missing
	 */
	resolve(undo: RecordUndo, creations: ReadonlySet<string> = new Set()): RecordUndo {
		if (undo.action !== 'update' && undo.action !== 'create') return undo;
		const fields = this.fields.get(undo.history.collection)!;
		const [withoutLink, lost] = [new Set<string>(), new Set<string>()];
		const changes = undo.changes.map((change): Change => {
			const { field, from, to, kept } = change;
			const link = kept || hasOnlyBlanks(to) ? undefined : this.linkOf(undo, field);
			if (!link) return change;
			const { value, lacksLink } = this.withLiveLinks(link, to, creations);
			if (lacksLink) withoutLink.add(field);
			if (value !== undefined && !(lacksLink && fields.isSame(field, from, value))) return { ...change, to: value };
			lost.add(eventName(field));
			return change;
		});
		if (withoutLink.size === 0) return { ...undo, changes };
		const reason = sentences(undo.reason, explain('missingLinks', [...withoutLink].join(', ')).reason);
		return fields.without({ ...undo, changes, reason }, lost);
	}

	/** A value as people read it: names beside the ids of records. */
	shown(undo: RecordUndo, name: string, value: unknown): string {
		const field = this.linkOf(undo, name);
		if (value === null || value === undefined) return 'empty';
		if (!field) return typeof value === 'string' ? `“${value}”` : JSON.stringify(value);
		const links = targetsIn(field, value).map((target) => {
			const found = this.names.get(recordKey(target));
			return found === undefined ? target.id : `${found} (${target.id})`;
		});
		return links.join(', ') || 'empty';
	}

	/**
	 * Removes links to missing records from a value, and replaces the ids of records that were created again.
	 *
	 * @returns no value if no link is left; also whether a link was left out
	 */
	private withLiveLinks(field: Field, value: unknown, creations: ReadonlySet<string>): { value?: unknown; lacksLink: boolean } {
		let lacksLink = false;
		const replacedValue = withReplacedIds(field, value, (target, id) => {
			const key = linkKey(target, id);
			const isMissing = this.isMissing(key) && !creations.has(key);
			lacksLink ||= isMissing;
			return isMissing ? undefined : withNewId(id, this.newIds.get(key));
		});
		if (!lacksLink) return { value: replacedValue, lacksLink };
		const isLive = (entry: unknown) => (field.collection === undefined ? (entry as IDataObject)?.id : entry) !== undefined;
		const liveEntries = Array.isArray(replacedValue) ? replacedValue.filter(isLive) : [];
		return liveEntries.length > 0 ? { value: liveEntries, lacksLink } : { lacksLink };
	}

	private isMissing(key: string): boolean {
		return this.missingRecords.has(key) && !this.newIds.has(key);
	}

	private linkOf({ history: { collection }, action }: RecordUndo, name: string): Field | undefined {
		return this.fields.get(collection)?.writtenLink(action === 'create' ? 'create' : 'update', name);
	}

	/** The records to which a value of a field links. */
	private targetsOf(undo: RecordUndo, name: string, value: unknown): Target[] {
		const field = this.linkOf(undo, name);
		return field ? targetsIn(field, value) : [];
	}
}

function targetsIn(field: Field, value: unknown): Target[] {
	return linkedIdsIn(field, value).flatMap(([collection, linked]) => {
		const id = idText(linked);
		return id === undefined ? [] : [{ collection, id }];
	});
}

/** The links to created records. Deleting a record would break the links that remain when the undo is done. */
export class LinksToCreated {
	private readonly createdIds = new Set<string>();
	/** The created records that each record links to after its last event, by field. */
	private readonly linksByRecord = new Map<string, Map<string, string[]>>();

	addCreated(id: string): void {
		this.createdIds.add(id);
	}

	/** Updates the links of the record of an event, whoever caused it. */
	addEvent(record: string, { data: { object } }: CrmEvent, change: EventMeaning['change']): void {
		if (this.createdIds.size === 0) return;
		const byField = new Map<string, string[]>();
		for (const [name, value] of change === 'deleted' ? [] : fieldEntries(object)) {
			// A version may be the same number as an id.
			const ids = name === 'id' || name === 'version' ? [] : this.createdIdsIn(value);
			if (ids.length > 0) byField.set(name, ids);
		}
		if (byField.size > 0) this.linksByRecord.set(record, byField);
		else this.linksByRecord.delete(record);
	}

	/** The ids of the created records to which undos write links. */
	linkedBy(undos: RecordUndo[]): ReadonlySet<string> {
		if (this.createdIds.size === 0) return new Set();
		return new Set(undos.flatMap(({ action, changes, history }) => {
			if (action !== 'update' && action !== 'create') return [];
			// Fields that the service derives from a written field get their previous values, too.
			const derived = [...history.fieldHistories.values()].flatMap(({ before, isChangedByOthers }) => (isChangedByOthers ? [] : [before]));
			return this.createdIdsIn([...changes.flatMap(({ to, kept }) => (kept ? [] : [to])), ...derived]);
		}));
	}

	/** Also those that other records still link to. @param when the undos are done, or now: as far as the log shows them */
	linkedIds(undos: RecordUndo[], when: 'done' | 'now'): ReadonlySet<string> {
		if (this.linksByRecord.size === 0) return this.linkedBy(undos);
		const linkedIds = [...this.linkedBy(undos)];
		const undoByRecord = new Map(undos.map((undo) => [recordKey(undo.history), undo]));
		const linkedByDeleted = new Map<string, string[]>();
		for (const [record, byField] of this.linksByRecord) {
			const undo = undoByRecord.get(record);
			const isReplaced = (name: string) => when === 'done' && undo?.action === 'update' && isRestoredField(undo, name);
			const ids = undo?.action === 'delete' ? getOrCreate(linkedByDeleted, undo.history.id, () => []) : linkedIds;
			for (const [name, linked] of byField) if (!isReplaced(name)) ids.push(...linked);
		}
		// What is linked is not deleted, so its own links stay, too.
		return reachable(linkedIds, (id) => linkedByDeleted.get(id) ?? []);
	}

	/** Those to delete first: of records that no other of them links to, or all if they link to each other in a circle. */
	deletableFirst<Step extends { planned: RecordUndo }>(steps: Step[]): Step[] {
		const linkedFrom = ({ history }: RecordUndo) => [...(this.linksByRecord.get(recordKey(history))?.values() ?? [])].flat();
		const linkedIds = new Set(steps.flatMap(({ planned }) => linkedFrom(planned).filter((id) => id !== planned.history.id)));
		const unlinked = steps.filter(({ planned }) => !linkedIds.has(planned.history.id));
		return unlinked.length > 0 ? unlinked : steps;
	}

	private createdIdsIn(value: unknown): string[] {
		return possibleIdsIn(value).filter((id) => this.createdIds.has(id));
	}
}

/** Whether a field gets its previous value: the undo writes it, or the service derives it from a written field. */
const isRestoredField = ({ changes, history }: RecordUndo, name: string): boolean =>
	history.fieldHistories.has(name) && !changes.some(({ field, kept }) => field === name && kept);
