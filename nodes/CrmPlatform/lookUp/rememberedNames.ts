import { getOrCreate } from '../base/maps';
import type { Connection } from '../api/connection';
import { hasText } from './nameSyntax';

/** The names of records (`pipelines`) and parts (`pipelines.stages`), by collection and id. */
const namesByConnection = new WeakMap<Connection, Map<string, Map<unknown, string>>>();

/** Caches the names of records for the lifetime of the connection, which is one execution. */
export function rememberNames(api: Connection, collection: string, records: Array<{ id?: unknown; name?: unknown }>): void {
	const collections = getOrCreate(namesByConnection, api, () => new Map<string, Map<unknown, string>>());
	const names = getOrCreate(collections, collection, () => new Map<unknown, string>());
	for (const { id, name } of records) if (hasText(name)) names.set(id, name);
}

/** The cached name of a record, if any. */
export const rememberedName = (api: Connection, collection: string, id: unknown): string | undefined =>
	namesByConnection.get(api)?.get(collection)?.get(id);
