import { subjectHash } from '../api/http/idempotency';
import type { Collection } from '../api/http/path';
import { withNewId, withReplacedIds } from '../api/openapi/linkFields';
import { idText } from '../base/json';
import { getOrCreate } from '../base/maps';
import type { Field } from '../fields/field';
import { type LoggedEvent, recordKey } from './loggedEvent';

/** By the keys of records: the ids that links have in place of theirs. */
export type Substitutes = Map<string, string>;

/** A value of a field with these ids in its links. @param link the field, if it is a link */
export function withSubstitutes(ids: Substitutes, link: Field | undefined, value: unknown): unknown {
	const keyOf = (collection: Collection, id: unknown) => recordKey({ collection, id: idText(id) ?? '' });
	return (link ? withReplacedIds(link, value, (target, id) => withNewId(id, ids.get(keyOf(target, id)))) : value) ?? null;
}

type DeletedRecord = Pick<LoggedEvent, 'id' | 'key'>;

/** A record, and those that undos have created in its place, each after one before it was deleted. */
interface Succession {
	/** Those that were deleted: first the original one. */
	deleted: DeletedRecord[];
	/** Of the one that exists, if one does. */
	livingId?: string | undefined;
}

/** The records that undos, whoever ran them, have created in place of deleted ones, as far as the log was read. */
export class Recreations {
	/** The ids of the original records, for those that were created in their place. */
	readonly originalIds: Substitutes = new Map();
	/** By the collection, and the hash in the key of a creation in place of the deleted record. A CRM may create others along with it. */
	private readonly byDeletion = new Map<string, DeletedRecord>();
	private readonly byRecord = new Map<string, Succession>();

	/** @returns for a creation in place of a deleted record: the key of that record */
	add(logged: LoggedEvent): string | undefined {
		if (logged.meaning.change === 'deleted') this.addDeletion(logged);
		return logged.meaning.change === 'created' ? this.addCreation(logged) : undefined;
	}

	private addDeletion({ event, meaning: { collection }, id, key }: LoggedEvent): void {
		this.byDeletion.set(`${collection} ${subjectHash(event.id)}`, { id, key });
		const succession = this.byRecord.get(key);
		if (succession?.livingId !== id) return;
		succession.deleted.push({ id, key });
		succession.livingId = undefined;
	}

	/** A record takes the place of the deleted one unless its creation is to be undone, too, or it is a second copy. */
	private addCreation({ meaning: { collection }, cause: { origin }, id, key, by }: LoggedEvent): string | undefined {
		const deleted = origin && this.byDeletion.get(`${collection} ${origin.hash}`);
		if (!deleted) return undefined;
		const succession = getOrCreate(this.byRecord, deleted.key, (): Succession => ({ deleted: [deleted] }));
		if (by === 'changes to undo' || (succession.livingId ?? id) !== id) return deleted.key;
		succession.livingId = id;
		this.byRecord.set(key, succession);
		this.originalIds.set(key, succession.deleted[0]!.id);
		return deleted.key;
	}

	/** For deleted records: the ids of those in their place that exist; with `last`, if none does, of the last to be deleted. */
	newIds(which: 'existing' | 'last'): Substitutes {
		const ids: Substitutes = new Map();
		for (const { deleted, livingId } of this.byRecord.values()) {
			const newId = livingId ?? (which === 'last' ? deleted.at(-1)!.id : undefined);
			if (newId !== undefined) for (const { key } of deleted) ids.set(key, newId);
		}
		return ids;
	}
}
