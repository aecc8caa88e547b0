
export type JsonObject = Record<string, unknown>;

/**
 * The member of an object by a name that a client chose. Inherited members do not count: otherwise a missing
 * field called `constructor` would have a value.
 */
export const memberNamed = <T>(object: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined =>
	object && Object.hasOwn(object, name) ? object[name] : undefined;

/** The value at a place within an object; undefined if there is none. */
export const valueAt = (input: unknown, path: PropertyKey[]): unknown =>
	path.reduce((parent, part) => memberNamed(parent as JsonObject | null | undefined, String(part)), input);

/** A copy of an object without some of its members. */
export const omit = <T extends JsonObject>(object: T, ...names: string[]): Partial<T> =>
	Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name))) as Partial<T>;

export const isObject = (value: unknown): value is JsonObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON text in which nothing but the id remains of a record. Results of items have ids, too, but are no objects of a type. */
export const withErased = (text: string, id: string): string =>
	JSON.stringify(JSON.parse(text), (_, value: unknown) =>
		isObject(value) && value['id'] === id && typeof value['object'] === 'string' ? { id, erased: true } : value,
	);

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
