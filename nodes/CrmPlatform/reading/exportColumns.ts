import type { IDataObject } from 'n8n-workflow';

import { occurrences } from '../base/maps';
import type { CustomFields } from '../api/customFields';
import type { ResourceDescription } from '../api/openapi/description';
import { isPlain } from '../api/openapi/listing';
import { allCustomFields, idField, type Field } from '../fields/field';
import { valueShape } from '../fields/fieldKinds';
import { labelText } from '../fields/readable';
import { meaningsAmong, meaningText, type MeaningsOf } from '../mapping/fieldNames';
import type { ListQuery } from './query';
import type { OutputField } from '../model';
import { outputField, outputValue } from './simplify';

interface ExportColumn {
	header: string;
	path: OutputField['path'];
	textOf?: ((value: unknown) => unknown) | undefined;
}

export function writableFieldsIn({ create, update }: ResourceDescription, custom: CustomFields | undefined): Field[] {
	const all = [...(create?.fields ?? []), ...(update?.fields ?? []), ...(custom?.fields ?? [])];
	return [...new Map(all.map((field) => [field.name, field])).values()];
}

/** The default fields of a table for people: without technical ones, and objects that cannot be written member by member. */
export function forPeople(listQuery: ListQuery, description: ResourceDescription): ListQuery {
	const { deleted } = listQuery.list;
	const without = new Set(['object', 'version']);
	if (deleted && listQuery.query[deleted.parameter] === undefined) without.add(deleted.field);
	const written = writableFieldsIn(description, undefined);
	const fields = description.fields.filter((field) => {
		const { name } = field;
		const members = written.filter(({ path }) => path[0] === name);
		const hasReadable = members.some((member) => valueShape(member) !== 'object' || member.linksTo);
		return (isPlain(field) || name === allCustomFields || hasReadable) && !without.has(name);
	});
	return { fields: fields.map(({ name }) => outputField(name)), ...listQuery };
}

/**
 * The columns for the chosen fields, or for all fields. Members of objects that can be written one by one, such as an
 * address, and the account's custom fields have their own columns.
 *
 * @param reserved labels with another meaning in an import. If present, the table is for people: the header of a column
 * is its label, if the label is unique and an import reads it like the name
 * @param notation writes a value as a region does
 */
export function exportColumns(
	{ fields, recordFields }: ListQuery,
	description: ResourceDescription,
	custom: CustomFields | undefined,
	reserved: ReadonlySet<string> | undefined,
	notation: ((value: unknown, field: Field | undefined) => unknown) | undefined,
): ExportColumn[] {
	const written = writableFieldsIn(description, custom);
	const byName = new Map(written.map((field) => [field.name, field]));
	const labels = new Map([...description.fields, ...written].map(({ name, label }) => [name, label]));
	const paths = columnPaths(fields ?? recordFields.map(outputField), written, custom);
	const named = [...paths].map(([name, path]) => ({ name, path, label: labels.get(name)?.trim() ?? name }));
	const uses = occurrences(named.map(({ label }) => label));
	const isReadBack = readBack(description, custom);
	return named.map(({ name, path, label }) => {
		const field = byName.get(name);
		const isClear = reserved && !reserved.has(label) && uses.get(label) === 1 && isReadBack(label, name);
		const readable = reserved && labelText(field);
		const textOf = notation ? (value: unknown) => notation(readable ? readable(value) : value, field) : readable;
		return { path, header: isClear ? label : name, textOf };
	});
}

function columnPaths(fields: OutputField[], written: Field[], custom: CustomFields | undefined): Map<string, OutputField['path']> {
	const paths = new Map<string, OutputField['path']>();
	for (const { name, path } of fields) {
		const members = path.length === 1 ? written.filter((field) => field.path[0] === name && field.path.length > 1) : [];
		if (members.length === 0) paths.set(name, path);
		const unwritable = name === allCustomFields ? (custom?.unwritable ?? []) : [];
		for (const member of [...members, ...unwritable]) paths.set(member.name, member.path as OutputField['path']);
	}
	return paths;
}

/** Whether each operation of an import finds the same field by a label as by a name. */
function readBack(
	{ fields: described, create, update, upsert }: ResourceDescription,
	custom: CustomFields | undefined,
): (label: string, name: string) => boolean {
	const recordFieldNames = new Set([...described, ...(custom?.unwritable ?? [])].map(({ name }) => name));
	const readers = [create?.fields, upsert?.fields, update && [idField, ...update.fields]].map(
		(fields = []) => meaningsAmong([...fields, ...(custom?.fields ?? [])], recordFieldNames),
	);
	const meaning = (meaningsOf: MeaningsOf, name: string) => JSON.stringify(meaningsOf(name).map(meaningText));
	return (label, name) => label !== '' && readers.every((names) => meaning(names, label) === meaning(names, name));
}

export const exportedCells = (record: IDataObject, columns: ExportColumn[]): unknown[] =>
	columns.map(({ path, textOf }) => {
		const value = outputValue(record, path);
		return textOf ? textOf(value) : value;
	});
