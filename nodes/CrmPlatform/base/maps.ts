interface MapLike<Key, Value> {
	has(key: Key): boolean;
	get(key: Key): Value | undefined;
	set(key: Key, value: Value): unknown;
}

/** The value of a key, which is created if the map does not have the key. */
export function getOrCreate<Key, Value>(map: MapLike<Key, Value>, key: Key, create: () => Value): Value {
	if (!map.has(key)) map.set(key, create());
	return map.get(key) as Value;
}

/** Keeps one value for each name as long as its owner exists, such as a connection: one execution. */
export function keptFor<Owner extends object, Value>(create: (owner: Owner, name: string) => Value): (owner: Owner, name: string) => Value {
	const byOwner = new WeakMap<Owner, Map<string, Value>>();
	return (owner, name) => getOrCreate(getOrCreate(byOwner, owner, () => new Map<string, Value>()), name, () => create(owner, name));
}

/** How often each key occurs. */
export function occurrences<Key>(keys: Iterable<Key>): Map<Key, number> {
	const counts = new Map<Key, number>();
	for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
	return counts;
}

/** A map that forgets its oldest entries. A key that is set again counts as new. */
export class RecentMap<Key, Value> {
	private readonly entries = new Map<Key, Value>();
	private readonly capacity: number;

	constructor(capacity: number) {
		this.capacity = capacity;
	}

	get(key: Key): Value | undefined {
		return this.entries.get(key);
	}

	set(key: Key, value: Value): void {
		this.entries.delete(key);
		this.entries.set(key, value);
		const [oldest] = this.entries.keys();
		if (this.entries.size > this.capacity) this.entries.delete(oldest as Key);
	}

	delete(key: Key): void {
		this.entries.delete(key);
	}

	values(): IterableIterator<Value> {
		return this.entries.values();
	}
}
