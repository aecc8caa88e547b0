import { bareContacts } from './bare-loop.ts';
import type { Server } from './server-process.ts';

/** The fields that are compared. */
const compared = ['external_id', 'last_name', 'job_title', 'lead_source'] as const;

export interface SyncedPerson {
	id: string;
	external_id: string | null;
	last_name: string | null;
	job_title: string | null;
	lead_source: string | null;
}

/** All contacts of the service. */
export const readPeople = async (server: Server) =>
	(await bareContacts(server, `limit=500&fields=${compared.join(',')}`)) as SyncedPerson[];

/** The people of the contacts, as items of another system. */
export const itemsOf = (source: SyncedPerson[]) => source.map(({ id: _, ...values }) => ({ ...values }));

/** Reads with one cursor, compares by a hash of the key, and writes the differences. */
export async function bareSync(server: Server, source: SyncedPerson[]): Promise<number> {
	const stored = new Map((await readPeople(server)).map((person) => [person.external_id, person]));
	const updates = source.flatMap((person) => {
		const before = stored.get(person.external_id);
		const names = compared.filter((name) => before && before[name] !== person[name]);
		return before && names.length > 0
			? [{ id: before.id, ...Object.fromEntries(names.map((name) => [name, person[name]])) }]
			: [];
	});
	await update(server, updates);
	return updates.length;
}

/** Writes the differences in batches. */
export async function update(server: Server, items: object[]): Promise<void> {
	for (let from = 0; from < items.length; from += 100) {
		const body = JSON.stringify({ items: items.slice(from, from + 100) });
		await server.call('POST', '/v1/contacts/batch/update', body);
	}
}
