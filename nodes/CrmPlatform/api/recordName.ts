import type { IDataObject } from 'n8n-workflow';

/** The fields that name a record to a person: services differ, and custom objects have a title. */
const nameFields = ['name', 'title', 'subject', 'label', 'label_plural', 'email'];

/** What a person calls a record; undefined where it has no name. */
export const recordName = (record: IDataObject): string | undefined => firstText(record, nameFields);

/** The first of the fields that has a text. */
export function firstText(record: IDataObject, fields: string[]): string | undefined {
	return fields
		.map((field) => record[field])
		.find((value): value is string => typeof value === 'string' && value !== '');
}
