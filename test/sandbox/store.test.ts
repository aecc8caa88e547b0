import { DatabaseSync } from 'node:sqlite';
import { contacts } from '../../sandbox/schemas/contacts.ts';
import type { Resource, StoredRecord } from '../../sandbox/schemas/resource.ts';
import { Table } from '../../sandbox/store/table.ts';

const record: StoredRecord = {
	id: 'con_1',
	version: 1,
	created_at: '2025-01-01T00:00:00.000Z',
	updated_at: '2025-01-01T00:00:00.000Z',
	deleted_at: null,
	email: 'ana@x.example',
	job_title: 'Buyer',
	tag_ids: [],
};

test('a file made before a field was added is brought up to date, with its records', () => {
	const { job_title: _, ...earlier } = contacts.properties;
	const { job_title: __, ...properties } = earlier;
	const outdated: Resource = { ...contacts, properties };
	const database = new DatabaseSync(':memory:');
	new Table(database, outdated).save(record);

	const table = new Table(database, contacts);
	const byTitle = [{ sql: 'job_title = ?', values: ['Buyer'] }];
	expect(table.findAll(byTitle, 10)).toEqual([record]);
	expect(table.count([], false)).toBe(1);
});

test('a large table is brought up to date in steps, and goes on after an interruption', () => {
	const { job_title: _, ...properties } = contacts.properties;
	const database = new DatabaseSync(':memory:');
	const earlier = new Table(database, { ...contacts, properties });
	for (let i = 0; i < 2500; i++) earlier.save({ ...record, id: `con_${i}`, email: `${i}@x.example` });
	const damage = database.prepare("UPDATE contacts SET document = ? WHERE id = 'con_2100'");
	const [whole] = earlier.page({ conditions: [{ sql: "id = 'con_2100'", values: [] }], order: [], after: undefined, includeDeleted: true, limit: 1 });
	damage.run('no JSON');
	expect(() => new Table(database, contacts)).toThrow('JSON');
	const moved = database.prepare('SELECT count(*) AS count FROM contacts').get()!['count'];
	expect(moved).toBe(2000);
	database.prepare("UPDATE contacts__outdated_0 SET document = ? WHERE id = 'con_2100'").run(whole!);

	const table = new Table(database, contacts);
	expect([table.count([], false), table.findAll([{ sql: 'job_title = ?', values: ['Buyer'] }], 5000).length]).toEqual([2500, 2500]);
	expect(database.prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%outdated%'").all()).toEqual([]);
});

test('the database itself keeps unique values unique', () => {
	const table = new Table(new DatabaseSync(':memory:'), contacts);
	table.save(record);
	expect(() => table.save({ ...record, id: 'con_2' })).toThrow('UNIQUE constraint failed');
	table.save({ ...record, deleted_at: record.updated_at });
	table.save({ ...record, id: 'con_2' });
});
