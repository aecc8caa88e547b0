import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { isAnsweredWith } from '../api/record';
import { notReadable } from '../api/http/statuses';
import { withReplacedIds } from '../api/openapi/linkFields';
import { idText, scalarsIn } from '../base/json';
import { getOrCreate } from '../base/maps';
import { withoutMembers } from '../base/ownMembers';
import type { Change } from '../changes/merge';
import type { Field } from '../fields/field';
import { namesAt } from '../lookUp/linkedNames';
import type { CrmEvent, EventMeaning } from '../log/crmEvent';
import { fieldEntries } from './fieldValues';
import { allKept, livingRecreation, type RecordHistory, type RecordUndo } from './history';
import type { FieldsByCollection } from './undoFields';

/** Identifies a record among the records of all types. */
export const recordKey = ({ collection, id }: { collection: string; id: string }): string => `${collection}/${id}`;

/** Identifies the record that a link names. @param collection of the other record, such as `companies` */
const linkKey = (collection: string, id: unknown): string => recordKey({ collection: `/${collection}`, id: idText(id) ?? '' });

/** All values within a value that may be ids. */
export const possibleIdsIn = (value: unknown): string[] => scalarsIn(value).flatMap((scalar) => idText(scalar) ?? []);

/** Whether an id consists of digits, so that any number may equal it. */
const isNumericId = (id: string): boolean => /^\d+$/.test(id);

/** The new id in place of an old one, which stays if there is none. A number is replaced by a number. */
export const withNewId = (id: unknown, newId: string | undefined): unknown =>
	newId !== undefined && typeof id === 'number' && isNumericId(newId) ? Number(newId) : (newId ?? id);

/** A record that a link names, or a part of one, such as a stage. */
interface Target {
	/** `/companies`, or `/pipelines.stages` for a part. */
	collection: string;
	id: string;
}

/** The links of a plan: which of the linked records exist, their names, and which have another id now. */
export class LiveLinks {
	private readonly fields: FieldsByCollection;
	private readonly missingRecords = new Set<string>();
	private readonly names = new Map<string, string>();
	private readonly newIds = new Map<string, string>();
	private readonly toBeCreated = new Set<string>();

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
		return (field ? withReplacedIds(field, value, (collection, id) => withNewId(id, this.newIds.get(linkKey(collection, id)))) : value) ?? null;
	}

	/** Looks up which of the records exist that a plan links to, and the names of all. */
	async lookUp(api: Connection, undos: RecordUndo[]): Promise<void> {
		const idsByCollection = new Map<string, Set<string>>();
		for (const undo of undos) {
			if (undo.action === 'create') this.toBeCreated.add(recordKey(undo.history));
			for (const { collection, id } of [...this.targetsOf(undo, 'to', true), ...this.targetsOf(undo, 'from', true)]) {
				getOrCreate(idsByCollection, collection, () => new Set<string>()).add(id);
			}
		}
		for (const [collection, ids] of idsByCollection) {
			const found = await namesAt(api, collection.slice(1), [...ids]).catch((error: unknown) => {
				// If these records cannot be read, the service reports the links that it refuses.
				if (isAnsweredWith(error, ...notReadable)) return undefined;
				throw error;
			});
			for (const id of found ? ids : []) {
				const key = recordKey({ collection, id });
				if (!found!.has(id)) this.missingRecords.add(key);
				else if (found!.get(id)) this.names.set(key, found!.get(id)!);
			}
		}
	}

	/** Whether an undo links to a record that the plan has yet to create. @param creations by default all of the plan */
	waitsForCreation(undo: RecordUndo, creations?: RecordUndo[]): boolean {
		const keys = creations ? new Set(creations.map(({ history }) => recordKey(history))) : this.toBeCreated;
		return this.missingLinks(undo).some((key) => keys.has(key));
	}

	/**
	 * Prepares an undo for the records that exist now: links to missing records are left out, and links to records that were
	 * created again get their new ids. A record is never left where the service would put it: without its place, such as its
	 * stage, it is not created.
	 */
	resolve(undo: RecordUndo): RecordUndo {
		const { action, history: { collection } } = undo;
		if (action !== 'update' && action !== 'create') return undo;
		const fields = this.fields.get(collection);
		const [withoutLink, lost] = [new Set<string>(), new Set<string>()];
		let changes = undo.changes.flatMap((change): Change[] => {
			const { field, to, kept } = change;
			if (kept) return [change];
			const link = this.linkOf(undo, field);
			const { value, lacksLink } = link && (to ?? null) !== null ? this.withLiveLinks(link, to) : { value: to, lacksLink: false };
			if (lacksLink) withoutLink.add(field);
			if (value !== undefined) return [{ ...change, to: value }];
			lost.add(field);
			return action === 'create' ? [] : [{ ...change, kept: true }];
		});
		if (withoutLink.size === 0) return { ...undo, changes };

		const isDisplaced = [...lost].some((name) => fields?.isPlacement(name));
		if (isDisplaced) changes = changes.map((change) => (fields?.isPlacement(change.field) ? { ...change, kept: true } : change));
		const isRequired = action === 'create' && [...lost].some((name) => fields?.writtenLink('create', name)?.required);
		const isImpossible = isRequired || (action === 'create' && isDisplaced);
		const reason = [
			undo.reason,
			`${[...withoutLink].join(', ')}: a linked record no longer exists, or is not visible to the credential.`,
			isRequired && 'The CRM requires this link, so the record was not created again.',
			!isRequired && isImpossible && 'The CRM would have put the record elsewhere, so it was not created again.',
		].filter(Boolean).join(' ');
		const rest = withoutMembers({ ...undo, changes, reason }, 'action');
		if (isImpossible) return { ...rest, changes: allKept(undo.changes), result: 'cannot_be_undone' };
		const isLeft = action === 'create' || changes.some(({ kept }) => !kept);
		if (!isLeft) return { ...rest, result: undo.result === 'conflict' ? 'conflict' : 'cannot_be_undone' };
		return { ...rest, action };
	}

	/** A value as people read it: names beside the ids of records. */
	shown(undo: RecordUndo, name: string, value: unknown): string {
		const field = this.linkOf(undo, name);
		if (value === null || value === undefined) return 'empty';
		if (!field) return typeof value === 'string' ? `“${value}”` : JSON.stringify(value);
		const links: string[] = [];
		withReplacedIds(field, value, (collection, id) => {
			const found = this.names.get(linkKey(placeOf(field, collection), id));
			links.push(found === undefined ? String(id) : `${found} (${String(id)})`);
			return id;
		});
		return links.join(', ') || 'empty';
	}

	/**
	 * Removes links to missing records from a value, and replaces the ids of records that were created again.
	 *
	 * @returns no value if no link is left; also whether a link was left out
	 */
	private withLiveLinks(field: Field, value: unknown): { value?: unknown; lacksLink: boolean } {
		let lacksLink = false;
		const replacedValue = withReplacedIds(field, value, (collection, id) => {
			const key = linkKey(placeOf(field, collection), id);
			const isMissing = this.isMissing(key);
			lacksLink ||= isMissing;
			return isMissing ? undefined : withNewId(id, this.newIds.get(key));
		});
		if (Array.isArray(replacedValue)) {
			const idOf = (entry: unknown) => (field.collection === undefined ? (entry as IDataObject)?.id : entry);
			const liveEntries = replacedValue.filter((entry) => idOf(entry) !== undefined);
			if (liveEntries.length > 0 || !lacksLink) return { value: liveEntries, lacksLink };
		}
		return lacksLink ? { lacksLink } : { value: replacedValue, lacksLink };
	}

	private missingLinks(undo: RecordUndo): string[] {
		return this.targetsOf(undo, 'to', false).map(recordKey).filter((key) => this.isMissing(key));
	}

	private isMissing(key: string): boolean {
		return this.missingRecords.has(key) && !this.newIds.has(key);
	}

	private linkOf({ history: { collection }, action }: RecordUndo, name: string): Field | undefined {
		return this.fields.get(collection)?.writtenLink(action === 'create' ? 'create' : 'update', name);
	}

	private targetsOf(undo: RecordUndo, side: 'from' | 'to', isWithKept: boolean): Target[] {
		const targets: Target[] = [];
		for (const change of undo.changes) {
			const field = change.kept && !isWithKept ? undefined : this.linkOf(undo, change.field);
			if (!field) continue;
			withReplacedIds(field, change[side], (collection, id) => {
				const text = idText(id);
				if (text !== undefined) targets.push({ collection: `/${placeOf(field, collection)}`, id: text });
				return id;
			});
		}
		return targets;
	}
}

/** `pipelines.stages` for a field that names a part of a record. */
const placeOf = ({ part }: Field, collection: string): string => (part === undefined ? collection : `${collection}.${part}`);

/** The links to created records. Deleting a record would break the links that remain when the undo is done. */
export class LinksToCreated {
	/** The last event that was read before the undo began. Later events contain the values that the undo writes. */
	sequenceBeforeUndo = 0;
	private readonly createdIds = new Set<string>();
	/** The created records that each record links to after its last event, by field. */
	private readonly linksByRecord = new Map<string, { sequence: number; byField: Map<string, string[]> }>();

	addCreated(id: string): void {
		this.createdIds.add(id);
	}

	/**
	 * Updates the links of the record of an event, whoever caused it.
	 *
	 * @returns whether the record links to a created one
	 */
	addEvent(record: string, { sequence, data: { object } }: CrmEvent, { change }: Pick<EventMeaning, 'change'>): boolean {
		if (this.createdIds.size === 0) return false;
		const byField = new Map<string, string[]>();
		for (const [name, value] of change === 'deleted' ? [] : fieldEntries(object)) {
			// A version may be the same number as an id.
			const ids = name === 'id' || name === 'version' ? [] : this.createdIdsIn(value);
			if (ids.length > 0) byField.set(name, ids);
		}
		if (byField.size > 0) this.linksByRecord.set(record, { sequence, byField });
		else this.linksByRecord.delete(record);
		return byField.size > 0;
	}

	/**
	 * The ids of the created records that other records link to when the undo is done.
	 *
	 * @param isWrittenOnly whether only the links count that the undo itself writes
	 * @param isWritten whether the previous values of a record are written, or will be before anything is deleted
	 */
	linkedAfterUndo(undos: RecordUndo[], isWrittenOnly: boolean, isWritten: (undo: RecordUndo) => boolean = () => true): ReadonlySet<string> {
		const linkedIds = new Set<string>();
		if (this.createdIds.size === 0) return linkedIds;
		const addLinks = (value: unknown) => {
			for (const id of this.createdIdsIn(value)) linkedIds.add(id);
		};
		const undoByRecord = new Map(undos.map((undo) => [recordKey(undo.history), undo]));
		for (const [record, { sequence, byField }] of isWrittenOnly ? [] : this.linksByRecord) {
			const undo = undoByRecord.get(record);
			if (undo?.action === 'delete') continue;
			const isRestored = undo?.action === 'update' && sequence <= this.sequenceBeforeUndo && isWritten(undo);
			for (const [name, ids] of byField) if (!isRestored || !isRestoredField(undo, name)) addLinks(ids);
		}
		for (const { action, changes, history } of undos) {
			if (action !== 'update' && action !== 'create') continue;
			for (const { to, kept } of changes) if (!kept) addLinks(to);
			// Fields that the service derives from a written field get their previous values, too.
			for (const { before, isChangedByOthers } of history.fields.values()) if (!isChangedByOthers) addLinks(before);
		}
		return linkedIds;
	}

	/** The records to delete first: those that no other of them links to, or all if they link to each other in a circle. */
	deletableFirst(undos: RecordUndo[]): RecordUndo[] {
		const linkedIdsOf = ({ history }: RecordUndo) =>
			[...(this.linksByRecord.get(recordKey(history))?.byField.values() ?? [])].flat().filter((id) => id !== history.id);
		const linkedIds = new Set(undos.flatMap(linkedIdsOf));
		const unlinked = undos.filter(({ history: { id } }) => !linkedIds.has(id));
		return unlinked.length > 0 ? unlinked : undos;
	}

	private createdIdsIn(value: unknown): string[] {
		return possibleIdsIn(value).filter((id) => this.createdIds.has(id));
	}
}

/** Whether a field gets its previous value: the undo writes it, or the service derives it from a written field. */
const isRestoredField = ({ changes, history }: RecordUndo, name: string): boolean =>
	history.fields.has(name) && !changes.some(({ field, kept }) => field === name && kept);
