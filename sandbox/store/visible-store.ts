import type { EventReader } from './event-reader.ts';
import type { Store } from './store.ts';
import { type TableView, VisibleTable } from './visible-table.ts';

/**
 * The store as one caller sees it. Nothing else can be found or changed through it, except explicitly
 * through `whole`, so new members of the store are hidden by default.
 */
export interface StoreView {
	/** The store with every record. */
	readonly whole: Store;
	readonly events: Pick<EventReader, 'page' | 'newest' | 'list'>;
	/** The table of a resource; undefined if the service has no such resource. */
	table(resource: string): TableView | undefined;
}

/** The store of a user who is not an administrator. */
class VisibleStore implements StoreView {
	readonly whole: Store;
	readonly events: EventReader;
	private readonly userId: string;

	constructor(whole: Store, userId: string) {
		this.whole = whole;
		this.events = whole.events.readableBy(userId);
		this.userId = userId;
	}

	table(resource: string): TableView | undefined {
		const table = this.whole.table(resource);
		return table && new VisibleTable(table, this.userId);
	}
}

/**
 * Returns the store as a caller sees it. API keys and administrators see every record; other users see
 * the records that `visibleTo` selects, and the events that they received.
 */
export const storeSeenBy = (store: Store, caller: { type: string; id: string }): StoreView =>
	store.seesAll(caller) ? store : new VisibleStore(store, caller.id);
