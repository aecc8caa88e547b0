import type { Connection } from './connection';
import { getOrCreate } from '../base/maps';

/**
 * Caches the results of `read` by its names for the lifetime of a connection, which is one execution: the rows of a
 * file are processed some hundred at a time. Callers at the same time share one reading. Failures are not cached.
 */
export function oncePerConnection<Names extends string[], Value>(
	read: (api: Connection, ...names: Names) => Promise<Value>,
): (api: Connection, ...names: Names) => Promise<Value> {
	const readings = new WeakMap<Connection, Map<string, Promise<Value>>>();
	return async (api, ...names) => {
		const cachedReadings = getOrCreate(readings, api, () => new Map<string, Promise<Value>>());
		const key = JSON.stringify(names);
		return await getOrCreate(cachedReadings, key, () => {
			const reading = read(api, ...names);
			reading.catch(() => cachedReadings.delete(key));
			return reading;
		});
	};
}
