import { possibleIdsIn } from '../base/json';
import { getOrCreate, reachable } from '../base/maps';
import { fieldEntries } from '../log/eventFields';
import { type LoggedEvent, recordKey } from './loggedEvent';
import type { RecordUndo } from './recordUndo';

/** The links to created records. Deleting a record would break the links that remain when the undo is done. */
export class LinksToCreated {
	private readonly createdIds = new Set<string>();
	/** The created records that each record links to after its last event, by field. */
	private readonly linksByRecord = new Map<string, Map<string, string[]>>();

	/** Updates the links of the record of an event, whoever caused it. @param isCreated whether its creation is to be undone */
	add({ event, type: { change }, key, id }: LoggedEvent, isCreated: boolean): void {
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

	/** The ids of the created records to which undos write links. */
	linkedBy(undos: RecordUndo[]): ReadonlySet<string> {
		if (this.createdIds.size === 0) return new Set();
		return new Set(undos.flatMap(({ action, changes, history }) => {
			if (action !== 'update' && action !== 'create') return [];
			// Fields that the service derives from a written field get their previous values, too.
			const derived = [...history.fieldHistories.values()].flatMap(({ before, othersSince }) => (othersSince ? [] : [before]));
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
