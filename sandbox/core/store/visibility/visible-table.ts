import type { StoredRecord } from '../../schemas/resource.ts';
import type { Condition } from '../records/condition.ts';
import { RecordReader } from '../records/record-reader.ts';
import type { Table } from '../records/table.ts';

/** The methods of a table that are safe for a caller who may not see all of its records. */
export type TableView = Pick<
	Table,
	| 'resource'
	| 'find'
	| 'findEver'
	| 'findAll'
	| 'findByCustomField'
	| 'page'
	| 'sees'
	| 'count'
	| 'list'
	| 'add'
	| 'save'
	| 'erase'
>;

/** The records of a table that a caller can see. It has only the methods of `Table` that are listed above. */
export class VisibleTable extends RecordReader implements TableView {
	private readonly table: Table;

	constructor(table: Table, visible: Condition[]) {
		super(table.source, visible);
		this.table = table;
	}

	add(record: StoredRecord, since?: string): void {
		this.table.add(record, since);
	}

	save(record: StoredRecord, since?: string): void {
		this.table.save(record, since);
	}

	erase(...args: Parameters<Table['erase']>): void {
		this.table.erase(...args);
	}
}
