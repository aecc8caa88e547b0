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
		const dividedPart = parts.find((part) => part.includes(','));
		if (dividedPart === undefined) return { [name]: parts };
		throw new DividedValue(
			`${label}: “${dividedPart}” contains “,”, which the CRM uses to separate values. Filter by one value at a time.`,
		);
	}
	return { [name]: typeof value === 'object' && value !== null ? single(label, value) : (value as string) };
}

/** The service would read one value as several. */
export class DividedValue extends Error {}

function single(label: string, value: unknown): string {
	if (typeof value !== 'object') return String(value);
	throw new Error(
		`${label}: the CRM does not describe how to filter by a value such as ${JSON.stringify(value).slice(0, 100)}, so nothing was read (${ruleNumber(11)}). Filter by a single value.`,
	);
}
