import type { Connection } from '../api/connection';
import { readRecordFields } from '../api/customFields';
import type { Collection } from '../api/http/path';
import { linkTarget } from '../api/openapi/linkFields';
import { linkName } from '../api/openapi/listing';
import { possibleIdsIn } from '../base/json';
import { getOrCreate, reachable } from '../base/maps';
import { type Field, unknownCollection } from '../fields/field';
import type { EventMeaning } from '../log/crmEvent';
import { fieldEntries, nameInEvents } from '../log/eventFields';
import { hasNumbers } from '../lookUp/names';
import { type LoggedEvent, recordKey } from './recordHistories';
import type { RecordUndo } from './recordUndo';
import type { UndoChoices } from './undoForm';

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
