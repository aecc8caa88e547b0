import { possibleIdsIn } from '../base/json';
import { getOrCreate, reachable } from '../base/maps';
import { fieldEntries } from '../log/eventFields';
import type { LoggedEvent } from './loggedEvent';
import type { RecordUndo } from './recordUndo';
import type { UndoChoices } from './undoForm';

/** The links to created records. Deleting a record would break the links that remain when the undo is done. */
export class LinksToCreated {
	private readonly createdIds = new Set<string>();
	/** The created records that each record links to after its last event, by field. */
	private readonly linksByRecord = new Map<string, Map<string, string[]>>();

	/** Updates the links of the record of an event, whoever caused it. @param isCreated whether its creation is to be undone */
	add({ event, meaning: { change }, key, id }: LoggedEvent, isCreated: boolean): void {
		if (isCreated) this.createdIds.add(id);
		if (this.createdIds.size === 0) return;
		const byField = new Map<string, string[]>();
		for (const [name, value] of change === 'deleted' ? [] : fieldEntries(event.data.object)) {
			// A version may be the same number as an id.
			const ids = name === 'id' || name === 'version' ? [] : this.createdIdsIn(value);
			if (ids.length > 0) byField.set(name, ids);
		}
		if (byField.size > 0) this.linksByRecord.set(key, byField);
		else this.linksByRecord.delete(key);
	}

	/**
	 * The ids of the created records that are linked from undone records and, unless the undo takes precedence, from others.
	 *
	 * @param when the undos are done, or now: as far as the log shows the links
	 */
	linkedIds(undos: RecordUndo[], when: 'done' | 'now', { takesPrecedence }: UndoChoices): ReadonlySet<string> {
		const linkedIds = this.idsWrittenBy(undos);
		if (takesPrecedence || this.linksByRecord.size === 0) return linkedIds;
		const undoByRecord = new Map(undos.map((undo) => [undo.history.key, undo]));
		const linkedByDeleted = new Map<string, string[]>();
		for (const [record, byField] of this.linksByRecord) {
			const undo = undoByRecord.get(record);
			for (const [name, ids] of byField) {
				const isReplaced = when === 'done' && undo?.action === 'update' && isRestoredField(undo, name);
				if (isReplaced) continue;
				if (undo?.action === 'delete') getOrCreate(linkedByDeleted, undo.history.id, () => []).push(...ids);
				else for (const id of ids) linkedIds.add(id);
			}
		}
		// What is linked is not deleted, so its own links stay, too.
		return reachable(linkedIds, (id) => linkedByDeleted.get(id) ?? []);
	}

	/** The ids of the other created records that a record links to, as far as the log shows. */
	linkedFrom({ key, id }: Pick<LoggedEvent, 'key' | 'id'>): string[] {
		return [...(this.linksByRecord.get(key)?.values() ?? [])].flat().filter((linkedId) => linkedId !== id);
	}

	/** The ids of the created records to which undos write links. */
	private idsWrittenBy(undos: RecordUndo[]): Set<string> {
		if (this.createdIds.size === 0) return new Set();
		return new Set(undos.flatMap(({ action, changes, history }) => {
			if (action !== 'update' && action !== 'create') return [];
			// Fields that the service derives from a written field get their previous values, too.
			const derived = [...history.fieldHistories.values()].flatMap(({ before, othersSince }) => (othersSince ? [] : [before]));
			return this.createdIdsIn([...changes.flatMap(({ to, kept }) => (kept ? [] : [to])), ...derived]);
		}));
	}

	private createdIdsIn(value: unknown): string[] {
		return possibleIdsIn(value).filter((id) => this.createdIds.has(id));
	}
}

/** Whether a field gets its previous value: the undo writes it, or the service derives it from a written field. */
const isRestoredField = ({ changes, history }: RecordUndo, name: string): boolean =>
	history.fieldHistories.has(name) && !changes.some(({ field, kept }) => field === name && kept);
