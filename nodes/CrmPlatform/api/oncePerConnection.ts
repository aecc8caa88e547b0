import type { Connection } from './connection';
import { getOrCreate } from '../base/maps';

/**
 * Caches the results of `read` by its names for the lifetime of a connection, which is one execution: the rows of a file
 * are processed some hundred at a time. Failures are not cached.
 */
export function oncePerConnection<Names extends string[], Value>(
	read: (api: Connection, ...names: Names) => Promise<Value>,
): (api: Connection, ...names: Names) => Promise<Value> {
	const valueCache = new WeakMap<Connection, Map<string, Value>>();
	return async (api, ...names) => {
		const cachedValues = getOrCreate(valueCache, api, () => new Map<string, Value>());
		const key = JSON.stringify(names);
		if (!cachedValues.has(key)) cachedValues.set(key, await read(api, ...names));
		return cachedValues.get(key) as Value;
	};
}
