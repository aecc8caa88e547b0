interface MapLike<Key, Value> {
	has(key: Key): boolean;
	get(key: Key): Value | undefined;
	set(key: Key, value: Value): unknown;
}

export function getOrCreate<Key, Value>(map: MapLike<Key, Value>, key: Key, create: () => Value): Value {
	if (!map.has(key)) map.set(key, create());
	return map.get(key) as Value;
}

/** Keeps one value for each name as long as its owner exists, such as a connection: one execution. */
export function onceFor<Owner extends object, Value, Name extends string = string>(
	create: (owner: Owner, name: Name) => Value,
): (owner: Owner, name: Name) => Value {
	const byOwner = new WeakMap<Owner, Map<Name, Value>>();
	return (owner, name) => getOrCreate(getOrCreate(byOwner, owner, () => new Map<Name, Value>()), name, () => create(owner, name));
}

/** These, and all to which they lead, directly or through others. */
export function reachable<Item>(items: Iterable<Item>, next: (item: Item) => Iterable<Item>): Set<Item> {
	const all = new Set(items);
	// The loop also visits what it adds.
	for (const item of all) for (const other of next(item)) all.add(other);
	return all;
}

export function occurrences<Key>(keys: Iterable<Key>): Map<Key, number> {
	const counts = new Map<Key, number>();
	for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
	return counts;
}

/** Groups entries by their keys. Few keys have several entries, and 100,000 lists would take much memory. */
export function groupedBy<Entry extends object>(
	entries: Iterable<Entry>,
	keyOf: (entry: Entry) => string | undefined,
): (key: string) => readonly Entry[] {
	const groups = new Map<string, Entry | Entry[]>();
	for (const entry of entries) {
		const key = keyOf(entry);
		if (key === undefined) continue;
		const same = groups.get(key);
		if (Array.isArray(same)) same.push(entry);
		else groups.set(key, same === undefined ? entry : [same, entry]);
	}
	return (key) => {
		const found = groups.get(key) ?? [];
		return Array.isArray(found) ? found : [found];
	};
}

/** A map that forgets its oldest entries. A key that is set again counts as new. */
export class RecentMap<Key, Value> extends Map<Key, Value> {
	private readonly capacity: number;

	constructor(capacity: number) {
		super();
		this.capacity = capacity;
	}

	override set(key: Key, value: Value): this {
		this.delete(key);
		super.set(key, value);
		const [oldest] = this.keys();
		if (this.size > this.capacity) this.delete(oldest as Key);
		return this;
	}
}
