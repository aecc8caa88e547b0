import { originOfEvent } from '../api/crmEvent';
import type { EventLog } from '../api/eventLog';
import { deletionHash } from '../api/http/idempotency';
import { idText } from '../api/http/json';
import type { Execution } from '../model';
import { livingRecord, type Current, type Undoing } from './plan';
import { sendWrites, type Describe, type UndoWrite } from './writeUndo';

/** What two undos at once have created twice. */
export interface Surplus {
	/** The place of the record that stays. */
	one: Undoing;
	id: string;
	reason: string;
}

/**
 * Makes a function that deletes what two undos at once have created twice: the record that came first stays,
 * and any that somebody has changed. Each undo asks after its own creations, so both come to the same result.
 *
 * @param last the sequence of the last event that the plan has seen
 */
export function surplusRemover(execution: Execution, log: EventLog, { planned, current, describe, last }: { planned: Undoing[]; current: Current; describe: Describe; last: number }): () => Promise<Surplus[]> {
	const deleted = planned.filter(({ history: { deletion, isCreated } }) => deletion && !isCreated);
	const byHash = new Map(deleted.map((one) => [deletionHash(one.history.deletion!.event), one]));
	const living = new Map(deleted.map((one) => [one, one.history.anew.filter(({ id }) => livingRecord(current, one.history.collection, id))]));
	const inPlaceOf = new Map([...living].flatMap(([one, all]) => all.map(({ id }) => [id, one])));
	const types = [...new Set(deleted.flatMap(({ history: { kind } }) => [`${kind}.created`, `${kind}.deleted`]))];
	let read = last;
	return async () => {
		if (deleted.length === 0) return [];
		for await (const event of log.after(read, types)) {
			// A log may hand out an event twice.
			if (event.sequence <= read) continue;
			read = event.sequence;
			const { object } = event.data;
			const id = idText(object.id);
			const one = byHash.get(originOfEvent(event)?.hash ?? '');
			if (one && id !== undefined && event.type.endsWith('.created') && living.get(one)!.every((other) => other.id !== id)) {
				living.get(one)!.push({ id, version: object.version });
				inPlaceOf.set(id, one);
			}
			const gone = event.type.endsWith('.deleted') ? inPlaceOf.get(id ?? '') : undefined;
			if (gone) living.set(gone, living.get(gone)!.filter((other) => other.id !== id));
		}
		const removed: Surplus[] = [];
		for (const [one, [first, ...surplus]] of living) {
			if (!first || surplus.length === 0) continue;
			const { collection } = one.history;
			const writes = surplus.map(({ id, version }): UndoWrite => ({ action: 'delete', collection, record: { id, version: version as number } }));
			const { outcomes, error } = await sendWrites(execution, describe, writes);
			if (error) throw error;
			const ids = surplus.filter((_, i) => 'record' in outcomes[i]!).map(({ id }) => id);
			living.set(one, [first]);
			removed.push({ one, id: first.id, reason: `Another undo has created it as well. Created later, and deleted again: ${ids.join(', ') || 'none'}.` });
		}
		return removed;
	};
}
