import type { Connection } from '../api/connection';
import { hasText } from './nameSyntax';

/** By collection, or `pipelines.stages`, and id. */
const known = new WeakMap<Connection, Map<string, Map<unknown, string>>>();

/** Remembers the names of records that were read, as long as the connection: it is that of one execution. */
export function rememberNames(api: Connection, collection: string, records: Array<{ id?: unknown; name?: unknown }>): void {
	const collections = known.get(api) ?? new Map<string, Map<unknown, string>>();
	known.set(api, collections);
	const names = collections.get(collection) ?? new Map<unknown, string>();
	collections.set(collection, names);
	for (const { id, name } of records) if (hasText(name)) names.set(id, name);
}

/** The name of a record that was read; undefined where it was not, or has none. */
export const rememberedName = (api: Connection, collection: string, id: unknown): string | undefined =>
	known.get(api)?.get(collection)?.get(id);
