import type { Connection } from './connection';
import { keptFor } from '../base/maps';

/**
 * Caches the results of `read` by its names for the lifetime of a connection, which is one execution: the rows of a
 * file are processed some hundred at a time. Callers at the same time share one reading. Failures are not cached.
 */
export function oncePerConnection<Names extends string[], Value>(
	read: (api: Connection, ...names: Names) => Promise<Value>,
): (api: Connection, ...names: Names) => Promise<Value> {
	const cache = keptFor<Connection, { reading?: Promise<Value> }>(() => ({}));
	return async (api, ...names) => {
		const cached = cache(api, JSON.stringify(names));
		return await (cached.reading ??= read(api, ...names).catch((error: unknown) => {
			delete cached.reading;
			throw error;
		}));
	};
}
