export type JsonObject = Record<string, unknown>;

/**
 * The member of an object by a name that somebody has chosen. Every object inherits members, so that a
 * field called `constructor` would have a value without being there.
 */
export const memberNamed = <T>(object: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined =>
	object && Object.hasOwn(object, name) ? object[name] : undefined;

/** A copy of an object without some of its members. */
export const omit = <T extends JsonObject>(object: T, ...names: string[]): Partial<T> =>
	Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name))) as Partial<T>;

export const isObject = (value: unknown): value is JsonObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);
