/** A map, or a weak map. */
interface MapLike<Key, Value> {
	get(key: Key): Value | undefined;
	set(key: Key, value: Value): unknown;
}

/** The value of a key, which is created if the map has none. */
export function getOrCreate<Key, Value>(map: MapLike<Key, Value>, key: Key, create: () => Value): Value {
	const existing = map.get(key);
	if (existing !== undefined) return existing;
	const value = create();
	map.set(key, value);
	return value;
}
