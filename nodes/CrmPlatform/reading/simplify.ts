import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { definitionsPath, readableCustomFields } from '../api/customFields';
import { allCustomFields } from '../fields/field';
import { isObject } from '../base/json';
import { memberAtPath, ownMember, setMember } from '../base/ownMembers';
import type { ResourceDescription } from '../api/openapi/description';
import { isPlain, type RecordField } from '../api/openapi/listing';
import { isBlank } from '../values/blank';
import { collectionPath, storedParameter } from '../mapping/locator';
import type { NamesToAdd, OutputField, ReadingRun } from '../model';
import { addNamesOption, simplifyProperty } from '../parameters/outputParameters';
import { parseBoolean } from '../values/parsers';

export const outputField = (name: string): OutputField => ({ name, path: [name] });

/**
 * The fields to output: those that the user has chosen, or parts of them (`address.city`), otherwise those of a simplified
 * record; undefined for whole records. A notice names the fields that records do not have.
 *
 * @param description the fields of a record, and the names of those of a simplified one; empty if the service describes none
 * @throws Error in the user's words if records have none of the chosen fields
 */
export async function outputFieldsOf(
	run: ReadingRun,
	item: number,
	{ fields, summary }: Pick<ResourceDescription, 'fields' | 'summary'>,
): Promise<OutputField[] | undefined> {
	const { n8n, api } = run;
	const value: unknown = n8n.getNodeParameter('options.outputFields', item, []);
	const names = Array.isArray(value) ? value.map(String) : String(value).split(',');
	const chosen = names.map((name) => name.trim()).filter((name) => name !== '');
	if (chosen.length === 0) return summaryFields(n8n, summary);

	const outputFields = chosen.flatMap((name) => outputFieldNamed(name, fields) ?? []);
	if (outputFields.length === 0) throw new Error(`Output Fields: ${missingFieldsText(chosen)}`);
	const isCustom = (field: OutputField) => field.path[0] === allCustomFields && field.path.length > 1;
	const areDefined = outputFields.some(isCustom) && (await api.describe(definitionsPath))?.list !== undefined;
	const custom = areDefined ? await readableCustomFields(api, collectionPath(run, item)).catch(() => undefined) : undefined;
	const defined = custom?.notUnderstood.length === 0 ? [...custom.fields, ...custom.unwritable] : undefined;
	const exists = (field: OutputField) => !defined || !isCustom(field) || defined.some(({ path: [, key] }) => key === field.path[1]);
	const unknown = chosen.filter((name) => !outputFields.some((field) => field.name === name && exists(field)));
	if (unknown.length > 0) api.notices.add(missingFieldsText(unknown));
	return outputFields;
}

function outputFieldNamed(name: string, fields: RecordField[]): OutputField | undefined {
	if (fields.some((field) => field.name === name)) return outputField(name);
	const [first = name, ...steps] = name.split('.');
	const parent = fields.find((field) => field.name === first);
	const mayExist = fields.length === 0 || (parent && !isPlain(parent));
	return mayExist ? { name, path: [first, ...steps] } : undefined;
}

const missingFieldsText = (names: string[]) =>
	`The records do not have ${names.join(', ')}. Open the node and choose the output fields again.`;

/** The fields of a simplified record; undefined if the user wants the whole record, or if its fields are unknown. */
export function summaryFields(n8n: IExecuteFunctions, summary: string[]): OutputField[] | undefined {
	const isSimple = parseBoolean(simplifyProperty.displayName, storedParameter(n8n, simplifyProperty.name, false));
	if (!isSimple || summary.length === 0) return undefined;
	// An account may have dozens of custom fields, of which a record uses few.
	return summary.map((name) => (name === allCustomFields ? { ...outputField(name), isFilledOnly: true } : outputField(name)));
}

/** Whole records, and chosen fields, get no names unless the option says so. @throws Error in the user's words */
export function namesToAdd(n8n: IExecuteFunctions): NamesToAdd {
	const isSimple = storedParameter(n8n, simplifyProperty.name, false) !== false && isBlank(storedParameter(n8n, 'options.outputFields', []));
	if (storedParameter(n8n, 'options.addNames', '') === '') return isSimple ? 'free' : 'none';
	return parseBoolean(addNamesOption.displayName, n8n.getNodeParameter('options.addNames', 0)) ? 'all' : 'none';
}

/** The value of an output field; most are a field of the record. */
export const outputValue = (record: IDataObject, path: OutputField['path']): unknown =>
	path.length === 1 ? ownMember(record, path[0]) : memberAtPath(record, path);

/** The record with only these fields, in their order. */
export function simplify(record: IDataObject, fields: OutputField[]): IDataObject {
	const simple: IDataObject = {};
	// A loop, because it runs for 100,000 records.
	for (const { name, path, isFilledOnly } of fields) {
		const rawValue = outputValue(record, path);
		const value = isFilledOnly ? filledMembers(rawValue) : rawValue;
		if (value !== undefined) setMember(simple, name, value);
	}
	return simple;
}

/** The members that have a value; undefined if none has. */
function filledMembers(value: unknown): IDataObject | undefined {
	if (!isObject(value)) return undefined;
	const members = Object.entries(value).filter(([, member]) => !isBlank(member));
	return members.length > 0 ? Object.fromEntries(members) : undefined;
}
