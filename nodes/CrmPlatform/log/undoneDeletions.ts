import { subjectHash } from '../api/http/idempotency';
import { causeOf } from './cause';
import type { CrmEvent } from './crmEvent';

/**
 * Finds the records that undos created in place of deleted ones. The log is read from its newest event on.
 *
 * @param created the types of events that report creations of a record type; `deleted`, its deletions
 * @returns to be called with each event: the id of the new record, if the event is a deletion that was undone
 */
export function undoneDeletions(created: string[], deleted: string[]): (event: CrmEvent) => string | undefined {
	/** The new records, by the hash of the deletion that their creation undoes. */
	const newIds = new Map<string, string>();
	/** The records that undos have deleted: their creations, by earlier undos, were undone. */
	const removed = new Set<string>();
	return (event) => {
		const id = String(event.data.object.id);
		const { origin } = causeOf(event);
		const isUndo = origin?.purpose === 'undo';
		if (isUndo && created.includes(event.type) && !removed.has(id)) newIds.set(origin.hash, id);
		if (!deleted.includes(event.type)) return undefined;
		const newId = newIds.get(subjectHash(event.id));
		if (isUndo && newId === undefined) removed.add(id);
		return newId;
	};
}
