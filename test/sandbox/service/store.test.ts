import { DatabaseSync } from 'node:sqlite';
import { contacts } from '../../../sandbox/core/schemas/contacts.ts';
import type { StoredRecord } from '../../../sandbox/core/schemas/resource.ts';
import { startSandbox } from '../../../sandbox/serve.ts';
import { Table } from '../../../sandbox/core/store/records/table.ts';
import { newDatabase } from '../harness/databases.ts';

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

test('a file of another version is refused, and keeps its records', async () => {
	const path = newDatabase();
	const { job_title: _, ...properties } = contacts.properties;
	const earlier = new DatabaseSync(path);
	new Table(earlier, { ...contacts, properties }).save(record);
	earlier.close();
	await expect(startSandbox({ db: path })).rejects.toThrow(
		`${path} was created by another version of the sandbox and was not changed. Choose another file with --db, or delete this one to start over.`,
	);
	const again = new DatabaseSync(path);
	expect(again.prepare('SELECT id FROM contacts').all()).toMatchObject([{ id: record.id }]);
	again.close();
});

test('the database itself enforces unique values', () => {
	const table = new Table(new DatabaseSync(':memory:'), contacts);
	table.save(record);
	expect(() => table.save({ ...record, id: 'con_2' })).toThrow('UNIQUE constraint failed');
	table.save({ ...record, deleted_at: record.updated_at });
	table.save({ ...record, id: 'con_2' });
});
