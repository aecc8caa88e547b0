import type { CrmEvent } from '../log/crmEvent';
import type { EventMeaning } from '../log/crmEvent';
import { fieldEntries, hasField } from './changedField';
import { possibleIdsIn, recordKey } from './recordIds';
import type { RecordUndo } from './recordUndo';

/** Decides which links count. */
interface LinkRules {
	/** Whether the previous values of a record are written, or will be before anything is deleted. */
	isWritten(undo: RecordUndo): boolean;
	/** The sequence of the last event that was read before the undo began. Later events contain the values that the undo writes. */
	sequenceBeforeUndo: number;
	/** Whether only the links count that the undo itself writes. */
	isWrittenOnly: boolean;
}

/** The links to created records. Deleting a record would break the links that remain when the undo is done. */
export class LinksToCreated {
	private readonly createdIds = new Set<string>();
	/** The created records that each record links to after its last event, by field. */
	private readonly linksByRecord = new Map<string, { sequence: number; byField: Map<string, string[]> }>();

	/** Adds a record that may be deleted. */
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
		// An event may contain only the changed fields.
		for (const [name, ids] of change === 'updated' ? (this.linksByRecord.get(record)?.byField ?? []) : []) {
			if (!hasField(object, name)) byField.set(name, ids);
		}
		for (const [name, value] of change === 'deleted' ? [] : fieldEntries(object)) {
			// A version may be the same number as an id.
			const ids = name === 'id' || name === 'version' ? [] : this.createdIdsIn(value);
			if (ids.length > 0) byField.set(name, ids);
		}
		if (byField.size > 0) this.linksByRecord.set(record, { sequence, byField });
		else this.linksByRecord.delete(record);
		return byField.size > 0;
	}

	/** The ids of the created records that other records link to when the undo is done. */
	linkedAfterUndo(undos: RecordUndo[], { isWritten, sequenceBeforeUndo, isWrittenOnly }: LinkRules): Set<string> {
		const linkedIds = new Set<string>();
		if (this.createdIds.size === 0) return linkedIds;
		const addLinks = (value: unknown) => {
			for (const id of this.createdIdsIn(value)) linkedIds.add(id);
		};
		const undoByRecord = new Map(undos.map((undo) => [recordKey(undo.history), undo]));
		for (const [record, { sequence, byField }] of isWrittenOnly ? [] : this.linksByRecord) {
			const undo = undoByRecord.get(record);
			if (undo?.action === 'delete') continue;
			const isRestored = undo?.action === 'update' && sequence <= sequenceBeforeUndo && isWritten(undo);
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

	/** The ids of created records in a value. */
	private createdIdsIn(value: unknown): string[] {
		return possibleIdsIn(value).filter((id) => this.createdIds.has(id));
	}
}

/** Whether a field gets its previous value: the undo writes it, or the service derives it from a written field. */
const isRestoredField = ({ changes, history }: RecordUndo, name: string): boolean =>
	history.fields.has(name) && !changes.some(({ field, kept }) => field === name && kept);
