import { DatabaseSync } from 'node:sqlite';
import { seed } from '../sandbox/seed/seed.ts';
import { contacts } from '../sandbox/core/schemas/contacts.ts';
import type { StoredRecord } from '../sandbox/core/schemas/resource.ts';
import { everyone } from '../sandbox/core/store/log/audience.ts';
import { cellOf, columnsOf, searchText } from '../sandbox/core/store/records/columns.ts';
import { recordJson } from '../sandbox/core/store/records/record-json.ts';
import { Store } from '../sandbox/core/store/store.ts';

/** A database that the sandbox has made, and one of its contacts. */
function openSandboxDatabase(path: string, contactCount: number): { database: DatabaseSync; sample: StoredRecord } {
	const store = new Store(path);
	seed(store, contactCount);
	const [sample] = store.table(contacts.name)!.findAll([], 1);
	store.events.add({ ...sampleEvent, audience: everyone, data: `{"object":${recordJson(sample!)}}` });
	store.close();
	const database = new DatabaseSync(path);
	database.exec(`
		PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;
		PRAGMA wal_autocheckpoint = 8192; PRAGMA temp_store = MEMORY;
	`);
	// The sandbox merges parts of the index in the background, and has turned off automatic merges.
	database.exec("INSERT INTO contacts_words (contacts_words, rank) VALUES ('automerge', 4)");
	return { database, sample: sample! };
}

/**
 * The minimum of creating contacts, in a bare loop: validate each, count it, and insert its row, its event
 * and its entry in the search index, many in one transaction. The sandbox has created the database, with all
 * its indexes; each record has its own time and place in them.
 *
 * @param path of the file to create
 */
export function bareInserts(path: string, existingRecords: number, perTransaction: number) {
	const { database, sample } = openSandboxDatabase(path, existingRecords);
	const marks = (count: number) => Array(count).fill('?').join();
	const row = database.prepare('SELECT * FROM contacts WHERE id = ?').get(sample.id)!;
	const insert = database.prepare(`INSERT INTO contacts VALUES (${marks(Object.keys(row).length)})`);
	const index = database.prepare('INSERT INTO contacts_words (rowid, search) VALUES (?, ?)');
	const { sequence: _, ...event } = database.prepare('SELECT * FROM events').get()!;
	const log = database.prepare(
		`INSERT INTO events (${Object.keys(event).join()}) VALUES (${marks(Object.keys(event).length)})`,
	);
	const columns = columnsOf(contacts);
	const count = database.prepare("UPDATE totals SET live = live + 1, stored = stored + 1 WHERE name = 'contacts'");
	const line = database.prepare('INSERT INTO job_items VALUES (?, ?, ?)');
	const drop = database.prepare('DELETE FROM job_items WHERE job_id = ?');
	const result = database.prepare('INSERT INTO job_results VALUES (?, ?, ?)');
	let createdCount = 0;
	const createOne = (item: unknown): string => {
		const id = `con_${String(++createdCount).padStart(26, '0')}`;
		const at = new Date().toISOString();
		const values = contacts.input.parse(item) as StoredRecord;
		const name = `${String(values['first_name'])} ${String(values['last_name'])}`;
		const record: StoredRecord = { ...sample, ...values, id, name, created_at: at, updated_at: at };
		const document = JSON.stringify(record);
		const search = searchText(contacts, record);
		const cells = columns.map((column) => cellOf(column, record));
		const { lastInsertRowid } = insert.run(id, search, ...cells, document);
		index.run(lastInsertRowid, search);
		count.run();
		const data = `{"object":${document}}`;
		log.run(...Object.values({ ...event, id: `evt_${id}`, created_at: at, record_id: id, data }));
		return document;
	};
	const inTransactions = <Item>(items: Item[], effect: (item: Item, i: number) => void) => {
		for (let i = 0; i < items.length; i += perTransaction) {
			database.exec('BEGIN IMMEDIATE');
			for (const [j, item] of items.slice(i, i + perTransaction).entries()) effect(item, i + j);
			database.exec('COMMIT');
		}
	};
	return {
		/** @returns the records as JSON texts */
		create(items: unknown[]): string[] {
			const documents: string[] = [];
			inTransactions(items, (item) => documents.push(createOne(item)));
			return documents;
		},
		/** Like a job, which survives a restart: it stores each line before, and its result afterwards. */
		createFromLines(items: string[]): void {
			const job = `job_${createdCount}`;
			inTransactions(items, (item, i) => line.run(job, i, item));
			inTransactions(items, (item, i) => result.run(job, i, createOne(JSON.parse(item))));
			drop.run(job);
		},
		close: () => database.close(),
	};
}

const sampleEvent = {
	id: 'evt_sample',
	type: 'contact.created',
	timestamp: new Date().toISOString(),
	resource: contacts.name,
	recordId: 'con_sample',
	isForAccount: true,
	actor: { type: 'api_key', id: 'key' },
	request: { id: 'req', idempotency_key: null },
};
