import { deletionHash } from '../api/http/idempotency';
import { getOrCreate } from '../base/maps';
import { recordKey } from './history';
import type { NewIds } from './liveLinks';

/** A record, and those that undos have created in its place, each after one before it was deleted. */
interface Succession {
	collection: string;
	/** Of those that were deleted: first the original one. */
	deletedIds: string[];
	/** Of those that exist, the earliest first. */
	livingIds: Set<string>;
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
		if (succession?.livingIds.delete(id)) succession.deletedIds.push(id);
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
		const succession = getOrCreate(this.byRecord, deletedKey, () => ({ collection, deletedIds: [deletedId], livingIds: new Set<string>() }));
		if (isToUndo || (succession.livingIds.size > 0 && !succession.livingIds.has(id))) return deletedKey;
		succession.livingIds.add(id);
		this.byRecord.set(key, succession);
		this.originalIds.set(key, succession.deletedIds[0]!);
		return deletedKey;
	}

	/**
	 * By the keys of deleted records: the ids of those that exist in their place.
	 *
	 * @param omitted the keys of records that do not count
	 */
	livingIds(omitted: ReadonlySet<string>): NewIds {
		return new Map([...this.byRecord.values()].flatMap(({ collection, deletedIds, livingIds }) => {
			const newId = [...livingIds].find((id) => !omitted.has(recordKey({ collection, id })));
			return newId === undefined ? [] : deletedIds.map((id): [string, string] => [recordKey({ collection, id }), newId]);
		}));
	}

	/** Also, if none exists, the ids of those that were the last to be deleted. */
	lastIds(omitted: ReadonlySet<string>): NewIds {
		const lastDeleted = [...this.byRecord.values()].flatMap(({ collection, deletedIds }) =>
			deletedIds.map((id): [string, string] => [recordKey({ collection, id }), deletedIds.at(-1)!]));
		return new Map([...lastDeleted, ...this.livingIds(omitted)]);
	}
}
