import { z } from 'zod/v4';

import { cursorAfter, indexAfter } from './cursor.ts';
import type { RecordTypeDefinition, StoredRecord } from './record-types.ts';
import { Refusal } from './refusal.ts';

export const maxPageSize = 250;
const usualPage = 25;

type Body = Record<string, unknown>;

/** The records of one type in memory, in the order they were made. */
export class Collection {
	readonly recordType: RecordTypeDefinition;
	private readonly records = new Map<string, StoredRecord>();
	private readonly others: Record<string, Collection>;
	private readonly changes: z.ZodObject;
	private createdCount = 0;

	/** @param others the collections its fields may refer to */
	constructor(recordType: RecordTypeDefinition, others: Record<string, Collection> = {}) {
		this.recordType = recordType;
		this.changes = recordType.fields.partial();
		this.others = others;
	}

	/** A page of the records that match, in the envelope `{ data, next_cursor, total }`. */
	list(query: Record<string, string>) {
		const { after, page_size: pageSize, order, ...filters } = query;
		const size = Number(pageSize ?? usualPage);
		if (!Number.isInteger(size) || size < 1 || size > maxPageSize) {
			throw new Refusal(400, 'bad_page_size', `page_size must be 1 to ${maxPageSize}.`);
		}
		const records = this.sorted(this.matching(filters), order);
		const list = JSON.stringify([order, Object.entries(filters).sort()]);
		const start = after === undefined ? 0 : indexAfter(after, list, records);
		const data = records.slice(start, start + size);
		const last = data.at(-1);
		const more = last !== undefined && start + size < records.length;
		return {
			data,
			next_cursor: more ? cursorAfter(last.id, list) : null,
			total: records.length,
		};
	}

	get(id: string): StoredRecord {
		const record = this.records.get(id);
		if (!record) throw new Refusal(404, 'not_here', `There is no ${this.recordType.prefix} ${id}.`);
		return record;
	}

	has(id: string) {
		return this.records.has(id);
	}

	create(body: Body): StoredRecord {
		const { blank, prefix, required } = this.recordType;
		const fields = { ...blank(), ...this.checked(body) };
		if (body[required] === undefined) {
			throw new Refusal(422, 'field_missing', `${required} must be given.`);
		}
		this.checkUnique(fields);
		return this.keep(`${prefix}-${String(++this.createdCount).padStart(6, '0')}`, fields);
	}

	/** Changes the fields given and leaves the others; null empties a field that may be empty. */
	update(id: string, body: Body): StoredRecord {
		const record = this.get(id);
		const fields = this.checked(body);
		this.checkUnique(fields, id);
		return this.keep(id, { ...record, ...fields });
	}

	/** Updates the record whose `key` field equals the body's, or creates it. */
	upsert(key: string | undefined, body: Body): { record: StoredRecord; created: boolean } {
		if (key !== this.recordType.unique) {
			throw new Refusal(400, 'bad_parameter', `key must be ${this.recordType.unique}.`);
		}
		if (typeof body[key] !== 'string') {
			throw new Refusal(422, 'field_missing', `${key} must be given, it is the key.`);
		}
		const found = this.holding(key, body[key]);
		if (found) return { record: this.update(found.id, body), created: false };
		return { record: this.create(body), created: true };
	}

	delete(id: string) {
		this.get(id);
		this.records.delete(id);
	}

	private keep(id: string, fields: Body): StoredRecord {
		const record = { ...fields, id, changed_at: new Date().toISOString() };
		this.records.set(id, record);
		return record;
	}

	private matching(filters: Record<string, string>): StoredRecord[] {
		const conditions = Object.entries(filters).map(([name, value]) => {
			const filter = this.recordType.filters[name];
			if (!filter) throw new Refusal(400, 'unknown_parameter', `There is no parameter ${name}.`);
			return filter(value, name);
		});
		return [...this.records.values()].filter((record) => conditions.every((met) => met(record)));
	}

	private sorted(records: StoredRecord[], order?: string): StoredRecord[] {
		if (order === undefined) return records;
		const { orders } = this.recordType;
		if (!orders.includes(order)) {
			throw new Refusal(400, 'bad_parameter', `order must be ${orders.join(', ')}.`);
		}
		const [field = '', direction] = order.split('.');
		const sign = direction === 'desc' ? -1 : 1;
		return records.sort((a, b) => sign * compare(a[field], b[field]));
	}

	private checked(body: Body): Body {
		const { success, data, error } = this.changes.safeParse(body);
		if (!success) throw new Refusal(422, 'bad_field', z.prettifyError(error));
		for (const [field, path] of Object.entries(this.recordType.references)) {
			const id = data[field];
			if (typeof id === 'string' && !this.others[path]?.has(id)) {
				throw new Refusal(422, 'bad_reference', `${field}: there is no ${id} in ${path}.`);
			}
		}
		return data;
	}

	private checkUnique(fields: Body, self?: string) {
		const { unique } = this.recordType;
		const holder = this.holding(unique, fields[unique]);
		if (holder && holder.id !== self) {
			throw new Refusal(409, 'taken', `${unique} is taken by ${holder.id}.`);
		}
	}

	private holding(field: string, value: unknown): StoredRecord | undefined {
		if (value === undefined || value === null) return undefined;
		return [...this.records.values()].find((record) => record[field] === value);
	}
}

function compare(a: unknown, b: unknown): number {
	if (typeof a === 'number' && typeof b === 'number') return a - b;
	return String(a ?? '').localeCompare(String(b ?? ''));
}
