import type { IDataObject } from 'n8n-workflow';

import { ruleNumber } from '../http/rules';
import type { Field } from '../../fields/field';

/**
 * The query parameter of a filter; several values are separated by commas (rule 11).
 *
 * @throws Error in the user's words if the value is an object, or if the service would split it
 */
export function filterQuery({ name, label }: Field, value: unknown): IDataObject {
	if (Array.isArray(value)) {
		const parts = value.map((element) => single(label, element));
		const divided = parts.find(isDivided);
		if (divided === undefined) return { [name]: parts };
		const problem = `“${divided}” contains “,”, which the CRM uses to separate values. Filter by one value at a time.`;
		throw new DividedValue(`${label}: ${problem}`);
	}
	return { [name]: typeof value === 'object' && value !== null ? single(label, value) : (value as string) };
}

/** Whether the service would read one value of a list as several. */
export const isDivided = (text: string): boolean => text.includes(',');

export class DividedValue extends Error {}

function single(label: string, value: unknown): string {
	if (typeof value !== 'object') return String(value);
	const shown = JSON.stringify(value).slice(0, 100);
	const refusal = `the CRM does not describe how to filter by a value such as ${shown}, so nothing was read (${ruleNumber(11)})`;
	throw new Error(`${label}: ${refusal}. Filter by a single value.`);
}
