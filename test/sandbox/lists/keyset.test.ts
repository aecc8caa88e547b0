import { DatabaseSync } from 'node:sqlite';
import { contacts } from '../../../sandbox/core/schemas/contacts.ts';
import { sortColumn } from '../../../sandbox/core/store/records/columns.ts';
import { Table } from '../../../sandbox/core/store/records/table.ts';

/** SQLite's query plan for a page deep in a list. */
function plan(order: Array<{ column: string; descending: boolean }>, after: string[]): string {
	const database = new DatabaseSync(':memory:');
	const table = new Table(database, contacts);
	const prepare = database.prepare.bind(database);
	let details = '';
	database.prepare = (sql) => {
		if (sql.startsWith('SELECT document')) {
			const steps = prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...after, 500);
			details = steps.map(({ detail }) => detail).join('; ');
		}
		return prepare(sql);
	};
	table.page({ conditions: [], order, after, includeDeleted: false, limit: 500 });
	return details;
}

const id = { column: 'id', descending: false };

test.each(contacts.sortable.map((field) => sortColumn(contacts, field)))(
	'a page sorted by %s is read from its index, not sorted',
	(column) => {
		const details = plan([{ column, descending: false }, id], ['x', 'con_x']);
		expect(details).toContain(`USING INDEX contacts_by_${column} ((${column},id)>(?,?))`);
		expect(details).not.toContain('TEMP B-TREE');
	},
);

test('a page in the standard order is read from the primary key', () => {
	expect(plan([id], ['con_x'])).toContain('(id>?)');
});
