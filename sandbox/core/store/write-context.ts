import type { Resource } from '../schemas/resource.ts';
import type { Actor, RequestOrigin } from '../schemas/origin.ts';
import type { StoreView } from './visibility/visible-store.ts';

/** The context of a write: the caller, their view of the store, the resource, time and request. */
export interface WriteContext {
	store: StoreView;
	resource: Resource;
	actor: Actor;
	/** Null for writes of the service itself. */
	request: RequestOrigin | null;
	/** Milliseconds since 1970. */
	now: number;
	newId(prefix: string, now: number): string;
}
