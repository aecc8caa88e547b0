import type { Connection } from './connection';

/**
 * The same function, which reads each thing once per connection, and so once per execution: the rows of
 * a file are read some hundred at a time. A failure is not remembered.
 *
 * @param read reads what the names stand for
 */
export function oncePerConnection<Names extends string[], Value>(
	read: (api: Connection, ...names: Names) => Promise<Value>,
): (api: Connection, ...names: Names) => Promise<Value> {
	const readBefore = new WeakMap<Connection, Map<string, Value>>();
	return async (api, ...names) => {
		const known = readBefore.get(api) ?? new Map<string, Value>();
		readBefore.set(api, known);
		const key = JSON.stringify(names);
		if (!known.has(key)) known.set(key, await read(api, ...names));
		return known.get(key) as Value;
	};
}
