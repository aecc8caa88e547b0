import type { CrmEvent } from '../api/crmEvent';
import { hasByName, namedValuesOf } from './changedField';
import type { EventMeaning } from './eventMeaning';

/** What becomes of a record, as far as links go. */
interface Linking {
	history: { collection: string; id: string; fields: ReadonlyMap<string, { before: unknown; isTheirs: boolean }> };
	action?: 'update' | 'delete' | 'create';
	changes: Array<{ field: string; to: unknown; kept?: true }>;
}

/** Which of the created records others link to, or will when the undo is done: to delete one would break the link. */
export class CreatedLinks {
	private readonly created = new Set<string>();
	/** What each record held after its last event, by field. */
	private readonly linksByRecord = new Map<string, { sequence: number; byField: Map<string, string[]> }>();

	/** @param id of a record that is to be deleted */
	watch(id: string): void {
		this.created.add(id);
	}

	/** @param record identifies the record of the event, whoever has caused it. @returns whether it links to a created one */
	add(record: string, { sequence, data: { object } }: CrmEvent, { change }: Pick<EventMeaning, 'change'>): boolean {
		if (this.created.size === 0) return false;
		// An event may have the changed fields only.
		const unchangedLinks = change === 'updated' ? [...(this.linksByRecord.get(record)?.byField ?? [])].filter(([name]) => !hasByName(object, name)) : [];
		const byField = new Map<string, string[]>(unchangedLinks);
		for (const [name, value] of change === 'deleted' ? [] : namedValuesOf(object)) {
			const ids = name === 'id' ? [] : this.amongCreated(value);
			if (ids.length > 0) byField.set(name, ids);
		}
		if (byField.size > 0) this.linksByRecord.set(record, { sequence, byField });
		else this.linksByRecord.delete(record);
		return byField.size > 0;
	}

	/**
	 * The created records that are linked when the undo is done.
	 *
	 * @param isWritten whether the former values are written, or will be before anything is deleted
	 * @param seen the sequence up to which the log was read before: a later event has what was written
	 * @param isOnlyWritten whether only links count that the undo itself writes
	 */
	linkedAfter<Undo extends Linking>(all: Undo[], isWritten: (undo: Undo) => boolean, seen: number, isOnlyWritten: boolean): Set<string> {
		const linked = new Set<string>();
		if (this.created.size === 0) return linked;
		const add = (value: unknown) => {
			for (const id of this.amongCreated(value)) linked.add(id);
		};
		const byRecord = new Map(all.map((undo) => [recordOf(undo), undo]));
		for (const [record, { sequence, byField }] of isOnlyWritten ? [] : this.linksByRecord) {
			const undo = byRecord.get(record);
			if (undo?.action === 'delete') continue;
			const isRestored = undo?.action === 'update' && sequence <= seen && isWritten(undo);
			for (const [name, ids] of byField) if (!isRestored || !isReplaced(undo, name)) add(ids);
		}
		for (const { action, changes, history } of all) {
			if (action !== 'update' && action !== 'create') continue;
			for (const { to, kept } of changes) if (!kept) add(to);
			// What the service derives from a written field has its former value, too.
			for (const { before, isTheirs } of history.fields.values()) if (!isTheirs) add(before);
		}
		return linked;
	}

	/** Those of these records that no other of them links to; all, where they link in a circle. */
	unlinkedOf<Undo extends Linking>(some: Undo[]): Undo[] {
		const idsIn = (undo: Linking) => [...(this.linksByRecord.get(recordOf(undo))?.byField.values() ?? [])].flat().filter((id) => id !== undo.history.id);
		const linked = new Set(some.flatMap(idsIn));
		const free = some.filter(({ history: { id } }) => !linked.has(id));
		return free.length > 0 ? free : some;
	}

	/** The created records that a value names. */
	private amongCreated(value: unknown): string[] {
		if (typeof value === 'string') return this.created.has(value) ? [value] : [];
		if (typeof value !== 'object' || value === null) return [];
		return Object.values(value).flatMap((member) => this.amongCreated(member));
	}
}

const recordOf = ({ history: { collection, id } }: Linking): string => `${collection}/${id}`;

/** Whether a field will have its former value: written, or derived by the service from what is written. */
const isReplaced = ({ changes, history }: Linking, name: string): boolean =>
	history.fields.has(name) && !changes.some(({ field, kept }) => field === name && kept);
