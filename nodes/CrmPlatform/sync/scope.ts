import type { IDataObject } from 'n8n-workflow';

import type { Query } from '../api/http/path';
import { idField, type Field } from '../api/openapi/fields';
import { normalised, trimmed, valueIn } from '../mapping/keys';

/** A filter of the scope that a record meets by having one of the values in a field. */
export interface ScopedField {
	field: Field;
	values: string[];
}

/** The filters of the scope that records can be held against. */
export function scopedFields(scope: Query, fields: Field[]): ScopedField[] {
	return Object.entries(scope).flatMap(([name, given]) => {
		const field = name === 'ids' ? idField : fields.find((one) => one.name === name);
		if (!field || given === undefined || field.kind === 'dateTime' || field.kind === 'list') return [];
		const texts = typeof given === 'object' && given !== null && 'each' in given ? (given.each as unknown[]).map(String) : [String(given)];
		// Services separate several values in one text by one of these.
		const parts = texts.flatMap((text) => [text, ...text.split(','), ...text.split('|'), ...text.split(' ')]);
		return [{ field, values: parts }];
	});
}

/**
 * Refuses records that the scope does not let through: a service that ignores its filters would have others
 * deleted as missing.
 *
 * @throws Error in the user's words
 */
export function refuseOutsiders(records: readonly IDataObject[], scoped: ScopedField[]): void {
	for (const { field, values } of scoped) {
		const comparable = (value: unknown) => trimmed(String(normalised(value, field, '') ?? '').normalize('NFKC')).toLowerCase();
		const wanted = new Set(values.map(comparable));
		// A service may not give the field at all.
		if (records.every((record) => valueIn(record, field) === undefined)) continue;
		for (const record of records) {
			const value = valueIn(record, field);
			if (typeof value === 'object' && value !== null) continue;
			if (!wanted.has(comparable(value))) throw new Error(outside(field, String(record.id), value));
		}
	}
}

const outside = ({ label }: Field, id: string, value: unknown) =>
	`Records in Scope: the service returned record ${id}, whose ${label} is ${value === null || value === undefined ? 'empty' : `‘${String(value).slice(0, 100)}’`}, which the filter excludes. Nothing was written, because other records could be deleted. Choose another filter, and report it to the service’s support.`;
