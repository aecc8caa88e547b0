import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import type { StoredRecord } from '../../sandbox/core/schemas/resource.ts';
import { contacts } from '../../sandbox/core/schemas/contacts.ts';
import { BackgroundReader } from '../../sandbox/core/store/threads/background-reader.ts';
import { DatabaseVersionError, Table } from '../../sandbox/core/store/records/table.ts';
import { entriesWith } from '../../sandbox/core/store/records/value-index.ts';
import { customField } from '../../sandbox/core/store/records/columns.ts';
import { randomRuns } from '../random-runs.ts';
import { onFile } from './harness/databases.ts';
import type { Json } from './harness/in-process.ts';

const define = (key: string, type: string, more = {}) => ({ resource: 'contacts', key, label: key, type, ...more });

test('a field that is defined when many records exist can be filtered by immediately: no index is built', async () => {
	const { store, path, get, post, patch } = onFile({ contacts: 200 });
	expect((await post('/v1/custom-fields', define('region', 'text'))).status).toBe(201);
	expect((await post('/v1/custom-fields', define('serial', 'text', { unique: true }))).status).toBe(201);
	const exec = jest.spyOn(DatabaseSync.prototype, 'exec');
	const reads = jest.spyOn(BackgroundReader.prototype, 'read');
	const { data } = (await get('/v1/contacts?limit=2')).body;
	for (const [i, { id }] of data.entries()) {
		const custom_fields = { region: 'north', serial: `${i}` };
		expect((await patch(`/v1/contacts/${id}`, { custom_fields })).status).toBe(200);
	}
	reads.mockClear();
	const { body } = await get('/v1/contacts?custom_fields.region=north');
	expect([body.total, body.data.map(({ id }: Json) => id)]).toEqual([2, data.map(({ id }: Json) => id)]);
	const { sql, values } = reads.mock.calls[0]![0][0]!;
	const database = new DatabaseSync(path, { readOnly: true });
	const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
	database.close();
	expect(plan.map(({ detail }) => detail).join()).toMatch(
		/SEARCH contacts USING INTEGER PRIMARY KEY.*PRIMARY KEY \(field=\? AND value=\?\)/,
	);
	expect(exec.mock.calls.filter(([statement]) => statement.includes('INDEX'))).toEqual([]);
	jest.restoreAllMocks();
	store.close();
});

test('a filter by a custom field finds the same as a scan of all records, whatever was written before', () => {
	const value = fc.oneof(
		fc.constantFrom('gold', '', 'x'.repeat(255), 'x'.repeat(256), 'x'.repeat(300), 0, 1, 2.5, true, false),
		fc.constant(['a', 'b']),
	);
	const customFields = fc.dictionary(fc.constantFrom('tier', 'constructor', 'key_2'), value, { maxKeys: 3 });
	const write = fc.record({ id: fc.constantFrom('con_1', 'con_2', 'con_3'), customFields, isDeleted: fc.boolean() });
	const operator = fc.constantFrom('=', '>', '>=', '<', '<=');
	const filters = fc.array(fc.tuple(fc.constantFrom('tier', 'constructor'), operator, value), { minLength: 1, maxLength: 3 });
	fc.assert(
		fc.property(fc.array(write, { maxLength: 8 }), filters, fc.boolean(), (writes, conditions, isSorted) => {
			const table = new Table(new DatabaseSync(':memory:'), contacts);
			for (const { id, customFields: custom_fields, isDeleted } of writes) {
				table.save({ id, custom_fields, created_at: '', deleted_at: isDeleted ? 'x' : null } as unknown as StoredRecord);
			}
			const found = (isIndexed: boolean) => {
				const all = conditions
					.filter(([, , operand]) => !Array.isArray(operand))
					.map(([field, by, operand]) => {
						const values = [typeof operand === 'boolean' ? Number(operand) : (operand as string | number)];
						const condition = { sql: `${customField(field)} ${by} ?`, values };
						return isIndexed ? { ...condition, entries: entriesWith(field, by, values) } : condition;
					});
				const order = isSorted ? [{ column: 'id', descending: false }] : [];
				const pages = [false, true].map((includeDeleted) =>
					table.page({ conditions: all, order, after: undefined, includeDeleted, limit: 10 }).toSorted(),
				);
				return [pages, table.count(all), table.count(all, { includeDeleted: true })];
			};
			expect(found(true)).toEqual(found(false));
		}),
		randomRuns(200),
	);
});

test('a value that many records have is searched in the order of the list', async () => {
	const { store, all } = onFile();
	const table = store.table('contacts')!;
	const blank = {
		object: 'contact', version: 1, created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z', deleted_at: null,
	};
	store.transaction(() => {
		for (let i = 0; i < 2500; i++) {
			const contract_tier = i % 10 === 9 ? 'silver' : 'gold';
			table.add({ ...blank, id: `con_${10_000 + i}`, custom_fields: { contract_tier } });
		}
	});
	const reads = jest.spyOn(BackgroundReader.prototype, 'read');
	const lookUps = () => reads.mock.calls.flat(2).filter(({ sql, isPage }) => isPage && sql.includes('contacts_values'));
	const gold = await all('/v1/contacts?custom_fields.contract_tier=gold&limit=500');
	expect([gold.length, new Set(gold.map(({ id }) => id)).size, lookUps().length]).toEqual([2250, 2250, 0]);
	expect((await all('/v1/contacts?custom_fields.contract_tier=silver&limit=500')).length).toBe(250);
	expect(lookUps().length).toBe(1);
	jest.restoreAllMocks();
	store.close();
});

test('the values of a table of another version are not guessed', () => {
	const database = new DatabaseSync(':memory:');
	new Table(database, contacts);
	database.exec('DROP TABLE contacts_values');
	expect(() => new Table(database, contacts)).toThrow(DatabaseVersionError);
});
