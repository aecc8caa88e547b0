import { deletionHash } from '../api/http/idempotency';
import { getOrCreate } from '../base/maps';
import { recordKey } from './history';
import type { NewIds } from './liveLinks';

/** A record, and those that undos have created in its place, each after one before it was deleted. */
interface Succession {
	collection: string;
	/** Of those that were deleted: first the original one. */
	deletedIds: string[];
	/** Of the one that exists, if one does. */
	livingId?: string | undefined;
}

/** The records that undos, whoever ran them, have created in place of deleted ones, as far as the log was read. */
export class Recreations {
	/** The ids of the original records, by the keys of those that were created in their place. */
	readonly originalIds: NewIds = new Map();
	/** By the collection, and the hash in the key of a creation in place of the deleted record. */
	private readonly idsByDeletion = new Map<string, string>();
	private readonly byRecord = new Map<string, Succession>();

	/** @param event the id of the event */
	addDeletion(collection: string, id: string, event: string): void {
		this.idsByDeletion.set(recordKey({ collection, id: deletionHash(event) }), id);
		const succession = this.byRecord.get(recordKey({ collection, id }));
		if (succession?.livingId !== id) return;
		succession.deletedIds.push(id);
		succession.livingId = undefined;
	}

	/**
	 * Only a record that stays, and that has no living twin, takes the place of the deleted one: a second copy is a record of its own.
	 *
	 * @param hash the one in the key of the creation
	 * @param isToUndo whether the undo is to delete the record again
	 * @returns the key of the deleted record in place of which this one was created, if so
	 */
	addCreation(collection: string, id: string, hash: string | undefined, isToUndo: boolean): string | undefined {
		const deletedId = this.idsByDeletion.get(recordKey({ collection, id: hash ?? '' }));
		if (deletedId === undefined) return undefined;
		const [key, deletedKey] = [recordKey({ collection, id }), recordKey({ collection, id: deletedId })];
		const succession = getOrCreate(this.byRecord, deletedKey, (): Succession => ({ collection, deletedIds: [deletedId] }));
		if (isToUndo || (succession.livingId ?? id) !== id) return deletedKey;
		succession.livingId = id;
		this.byRecord.set(key, succession);
		this.originalIds.set(key, succession.deletedIds[0]!);
		return deletedKey;
	}

	/** By the keys of deleted records: the ids of those that exist in their place. */
	livingIds(): NewIds {
		return this.newIds(({ livingId }) => livingId);
	}

	/** Also, if none exists, the ids of those that were the last to be deleted. */
	lastIds(): NewIds {
		return this.newIds(({ livingId, deletedIds }) => livingId ?? deletedIds.at(-1));
	}

	private newIds(newIdOf: (succession: Succession) => string | undefined): NewIds {
		return new Map([...this.byRecord.values()].flatMap((succession) => {
			const { collection, deletedIds } = succession;
			const newId = newIdOf(succession);
			return newId === undefined ? [] : deletedIds.map((id): [string, string] => [recordKey({ collection, id }), newId]);
		}));
	}
}
