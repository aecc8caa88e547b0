import { getOrCreate } from '../../foundation/maps.ts';

const maxRemembered = 1000;

/** Values that were read or made before, by key. */
export class Memory {
	private readonly values = new Map<string, unknown>();

	/** Returns the value, which is made if it is not remembered. */
	get<T>(key: string, make: () => T): T {
		if (this.values.size >= maxRemembered) this.values.clear();
		return getOrCreate(this.values, key, make) as T;
	}

	clear(): void {
		this.values.clear();
	}
}
