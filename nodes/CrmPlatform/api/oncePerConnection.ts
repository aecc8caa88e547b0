import type { Connection } from './connection';
import { getOrCreate } from '../base/maps';

/**
 * Wraps `read` so that it reads each thing once per connection, and so once per execution: the rows of
 * a file are read some hundred at a time. A failure is not remembered.
 *
 * @param read reads what the names stand for
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
