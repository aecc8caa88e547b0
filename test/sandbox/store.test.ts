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

test('the database itself keeps unique values unique', () => {
	const table = new Table(new DatabaseSync(':memory:'), contacts);
	table.save(record);
	expect(() => table.save({ ...record, id: 'con_2' })).toThrow('UNIQUE constraint failed');
	table.save({ ...record, deleted_at: record.updated_at });
	table.save({ ...record, id: 'con_2' });
});
