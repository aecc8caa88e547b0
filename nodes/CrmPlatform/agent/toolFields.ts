import type { IDataObject } from 'n8n-workflow';

import { customFieldsOnce } from '../mapping/acceptedFields';
import type { Connection } from '../api/connection';
import { allCustomFields, customFieldPrefix, customKeyOf, type Field } from '../fields/field';
import { isBlank } from '../values/blank';
import { listed } from '../values/listed';
import { isPlainObject } from '../base/ownMembers';
import { withMembers } from '../base/withMembers';
import { linkedKeys } from '../reading/linkedKeys';
import { wordsOf } from '../mapping/fieldNames';
import { toolCollection, toolDescription, type ToolRun } from './toolRun';
import type { RecordType } from './toolSettings';

/** The writable fields of a record type, custom fields one by one. */
export async function fieldsOfRecordType(run: ToolRun, recordType: RecordType): Promise<Field[]> {
	const { create, update } = await toolDescription(run, recordType);
	// Only a new record requires such a field.
	const fields = [...(create?.fields ?? []), ...(update?.fields ?? [])];
	const distinctFields = fields.filter((field, i) => fields.findIndex(({ name }) => name === field.name) === i);
	if (!distinctFields.some(({ name }) => name === allCustomFields)) return distinctFields;
	const custom = await customFieldsOnce(run.api, toolCollection(recordType));
	return [...distinctFields.filter(({ name }) => name !== allCustomFields), ...(custom?.fields ?? [])];
}

/** A name that models use for a link: `company` for `company_id`. */
export const shortName = (name: string): string => name.replace(/_ids?$/, '');

/**
 * Finds the entry that a name refers to, by its name in the API or by its label.
 *
 * @throws Error in the model's words, with the available names
 */
export function matchByName<Entry extends { name: string; label: string }>(all: Entry[], requestedName: string, entryType: string): Entry {
	const exact = all.find(({ name }) => name === requestedName || name === customFieldPrefix + requestedName);
	if (exact) return exact;
	const words = wordsOf(requestedName);
	const aliasesOf = ({ name, label }: Entry) => [name, shortName(name), label, customKeyOf(name) ?? name];
	const matches = all.filter((entry) => aliasesOf(entry).some((alias) => wordsOf(alias) === words));
	const [only] = matches;
	if (only && matches.length === 1) return only;
	const listedNames = listed((matches.length > 0 ? matches : all).map(({ name }) => name), 60);
	throw new Error(
		matches.length > 0 ? `${requestedName} could be ${listedNames}. Use one of these.` : `There is no ${entryType} ${requestedName}. Use one of these: ${listedNames}.`,
	);
}

/**
 * Returns the values under the service's names: the model may write `company` for `company_id`.
 *
 * @throws Error in the model's words if the values name a field twice, or if an id would be left out
 */
export function withServiceNames(values: IDataObject, fields: Field[]): IDataObject {
	const fieldNames = new Set(fields.flatMap(({ name, path: [member = ''] }) => [name, member]));
	const id = fieldNames.has('id') ? undefined : Object.keys(values).find((name) => wordsOf(name) === 'id');
	if (id !== undefined) {
		throw new Error(`values must not contain ${id}: the CRM assigns the id of a new record, and record names the one to change.`);
	}
	refuseRepeatedNames(namesIn(values), (name) => fieldCalled(name, fields));
	return Object.fromEntries(
		Object.entries(values).map(([name, value]) => {
			const longer = fieldNames.has(name) ? [] : [`${name}_id`, `${name}_ids`].filter((candidate) => fieldNames.has(candidate));
			return [longer.length === 1 ? longer[0]! : name, value];
		}),
	);
}

/** @throws Error in the model's words if two names mean one field */
export function refuseRepeatedNames(names: string[], meaning: (name: string) => string): void {
	for (const name of names) {
		const same = names.filter((other) => meaning(other) === meaning(name));
		if (same.length > 1) throw new Error(`${same.join(', ')} are one field. Send it once.`);
	}
}

/** The names of all values; a value in an object has the object's name before its own. */
const namesIn = (values: IDataObject, before = ''): string[] =>
	Object.entries(values).flatMap(([name, value]) => {
		const inner = isPlainObject(value) ? namesIn(value as IDataObject, `${before}${name}.`) : [];
		return inner.length > 0 ? inner : [before + name];
	});

/** Finds the only field with this name, in any spelling; without one, returns the words of the name. */
function fieldCalled(requestedName: string, fields: Field[]): string {
	const bare = (name: string) => wordsOf(customKeyOf(name) ?? name);
	const words = bare(requestedName);
	const matches = fields.filter(({ name, label }) => [bare(name), bare(shortName(name)), wordsOf(label)].includes(words));
	const onlyMatch = matches.length === 1 ? matches[0] : undefined;
	const field = fields.find(({ name }) => name === requestedName) ?? matches.find(({ name }) => bare(name) === words) ?? onlyMatch;
	return field?.name ?? words;
}

/** The records with names in place of linked ids and without blank values, which saves tokens. */
export async function forReading(api: Connection, fields: Field[], records: IDataObject[]): Promise<IDataObject[]> {
	const named = await linkedKeys(withoutNotices(api), fields, 'names')(records);
	return named.map((record) => withoutBlankMembers(record));
}

/** Drops notices about links whose names cannot be read: the model sees their ids. */
const withoutNotices = (api: Connection): Connection => withMembers(api, { notices: new Set() });

function withoutBlankMembers(record: IDataObject): IDataObject {
	const filled = Object.entries(record).flatMap(([name, value]): Array<[string, unknown]> => {
		if (isBlank(value)) return [];
		if (typeof value !== 'object' || Array.isArray(value)) return [[name, value]];
		const inner = withoutBlankMembers(value as IDataObject);
		return Object.keys(inner).length > 0 ? [[name, inner]] : [];
	});
	return Object.fromEntries(filled) as IDataObject;
}
