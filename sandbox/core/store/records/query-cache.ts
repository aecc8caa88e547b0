import { getOrCreate } from '../../foundation/maps.ts';

const maxRemembered = 1000;

/** Caches what was read from a table since its last change. */
export class QueryCache {
	private readonly values = new Map<string, unknown>();

	/** Returns the cached value, or reads and caches it. */
	getOrRead<T>(key: string, read: () => T): T {
		if (this.values.size >= maxRemembered) this.values.clear();
		return getOrCreate(this.values, key, read) as T;
	}

	clear(): void {
		this.values.clear();
	}
}
