import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { RecordField } from '../api/openapi/listing';
import { valueAt } from '../mapping/expressions/template';
import type { Execution } from '../model';

/** A value to output: its name, and its place in the record. */
export interface OutputField {
	name: string;
	path: [field: string, ...steps: string[]];
}

export const outputField = (name: string): OutputField => ({ name, path: [name] });

/**
 * The output fields the user has chosen, or parts of fields (`address.city`); undefined if none are
 * chosen. A notice names those that records do not have.
 *
 * @param fields the fields of a record; empty if the service does not describe them
 * @throws Error in the user's words if records have none of the chosen fields
 */
export function chosenFields(
	{ n8n, api }: Execution,
	item: number,
	fields: RecordField[],
): OutputField[] | undefined {
	const given: unknown = n8n.getNodeParameter('options.outputFields', item, []);
	const names = Array.isArray(given) ? given.map(String) : String(given).split(',');
	const chosen = names.map((name) => name.trim()).filter((name) => name !== '');
	if (chosen.length === 0) return undefined;

	const known = chosen.flatMap((name) => placeOf(name, fields) ?? []);
	if (known.length === 0) throw new Error(`Output Fields: ${notThere(chosen)}`);
	const unknown = chosen.filter((name) => !known.some((field) => field.name === name));
	if (unknown.length > 0) api.notices.add(notThere(unknown));
	return known;
}

function placeOf(name: string, fields: RecordField[]): OutputField | undefined {
	if (fields.some((field) => field.name === name)) return outputField(name);
	const [first = name, ...steps] = name.split('.');
	const whole = fields.find((field) => field.name === first);
	const isThere = fields.length === 0 || whole?.isPlain === false;
	return isThere ? { name, path: [first, ...steps] } : undefined;
}

const notThere = (names: string[]) =>
	`The records do not have ${names.join(', ')}. Open the node and choose the output fields again.`;

/** The fields of a simplified record; undefined if the whole record is wanted, or its fields are unknown. */
export function summaryFields(
	n8n: IExecuteFunctions,
	item: number,
	summary: string[],
): OutputField[] | undefined {
	const isSimple = n8n.getNodeParameter('simplify', item, false) === true;
	return isSimple && summary.length > 0 ? summary.map(outputField) : undefined;
}

/** The record with only those values, in that order. */
export function simplify(record: IDataObject, fields: OutputField[]): IDataObject {
	const simple: IDataObject = {};
	// A loop, because it runs for 100,000 records.
	for (const { name, path } of fields) {
		const value = path.length === 1 ? record[name] : valueAt(record, path)[0];
		if (value !== undefined) simple[name] = value;
	}
	return simple;
}
