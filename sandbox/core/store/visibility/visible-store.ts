import type { EventReader } from '../log/event-reader.ts';
import type { Store } from '../store.ts';
import { type Viewer, visibleTo } from './visibility.ts';
import { type TableView, VisibleTable } from './visible-table.ts';

/**
 * The store as one caller sees it. Other records can be found and changed only through `unrestricted`, so new
 * members of the store are hidden by default.
 */
export interface StoreView {
	/** The store with every record. */
	readonly unrestricted: Store;
	readonly events: Pick<EventReader, 'page' | 'count' | 'sequences'>;
	/** The table of a resource; undefined if the service has no such resource. */
	table(resource: string): TableView | undefined;
}

/** The store of a caller who does not see every record. */
class VisibleStore implements StoreView {
	readonly unrestricted: Store;
	readonly events: EventReader;
	private readonly viewer: Viewer;

	constructor(unrestricted: Store, viewer: Viewer) {
		this.unrestricted = unrestricted;
		this.events = unrestricted.events.readableBy(viewer);
		this.viewer = viewer;
	}

	table(resource: string): TableView | undefined {
		const table = this.unrestricted.table(resource);
		const visible = table ? visibleTo(this.viewer, table.resource) : [];
		return table && visible.length > 0 ? new VisibleTable(table, visible) : table;
	}
}

/**
 * Returns the store as a caller sees it. API keys and administrators see every record; other users see
 * the records that `visibleTo` selects, and the events that they received. What an application
 * created is visible only through it.
 *
 * @param application see `Viewer`
 */
export function storeVisibleTo(store: Store, caller: Viewer['caller'], application: Viewer['application']): StoreView {
	const seesAll = store.seesAll(caller);
	if (seesAll && application === undefined) return store;
	return new VisibleStore(store, { caller, seesAll, application });
}
