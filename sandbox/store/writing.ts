import type { Resource } from '../schemas/resource.ts';
import type { RequestOrigin } from '../foundation/origin.ts';
import type { StoreView } from './visible-store.ts';

/** Who writes, when, where to, and which request asked for it. */
export interface Writing {
	store: StoreView;
	resource: Resource;
	actor: { type: string; id: string };
	/** Null if no request did. */
	request: RequestOrigin | null;
	/** Milliseconds since 1970. */
	now: number;
	newId(prefix: string, now: number): string;
}
