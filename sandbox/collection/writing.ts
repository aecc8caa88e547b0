import type { Resource } from '../schemas/resource.ts';
import type { Store } from '../store/store.ts';

/** Who writes, when, and where to. */
export interface Writing {
	store: Store;
	resource: Resource;
	actor: { type: string; id: string };
	/** Milliseconds since 1970. */
	now: number;
	newId(prefix: string, now: number): string;
}
