import type { StoredRecord } from '../schemas/resource.ts';
import { RecordReader } from './record-reader.ts';
import type { Table } from './table.ts';
import { visibleTo } from './visibility.ts';

/** The methods of a table that are safe for a caller who may not see all of its records. */
export type TableView = Pick<
	Table,
	| 'resource'
	| 'columns'
	| 'find'
	| 'findAll'
	| 'page'
	| 'nextPage'
	| 'count'
	| 'countAside'
	| 'list'
	| 'add'
	| 'save'
>;

/** The records of a table that a user can see. It has no other method of `Table` than those above. */
export class VisibleTable extends RecordReader implements TableView {
	private readonly table: Table;

	constructor(table: Table, userId: string) {
		super(table.source, visibleTo(userId, table.resource));
		this.table = table;
	}

	add(record: StoredRecord, since?: string): void {
		this.table.add(record, since);
	}

	save(record: StoredRecord, since?: string): void {
		this.table.save(record, since);
	}
}
