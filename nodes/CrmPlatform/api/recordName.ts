import type { IDataObject } from 'n8n-workflow';

/** The fields that may name a record: services differ, and custom objects have a title. */
export const nameFields = ['name', 'title', 'subject', 'label', 'label_plural', 'email'];

/** The name by which people know a record, if it has one. */
export const recordName = (record: IDataObject): string | undefined => firstText(record, nameFields);

/** The first of the fields that has a text. */
export function firstText(record: IDataObject, fields: string[]): string | undefined {
	return fields
		.map((field) => record[field])
		.find((value): value is string => typeof value === 'string' && value !== '');
}
