import type { IDataObject } from 'n8n-workflow';

import type { Field } from '../../fields/field';

/**
 * The query parameters of a filter, in the encoding that the service describes.
 *
 * @throws Error in the user's words if the service does not describe the encoding, or would split the value
 */
export function filterQuery({ name, encoding, label }: Field, value: unknown): IDataObject {
	if (encoding === 'json') return { [name]: JSON.stringify(value) };
	if (Array.isArray(value)) {
		const parts = value.map((element) => single(label, element));
		if (encoding === 'repeated') return { [name]: { each: parts } };
		const separator = { space: ' ', pipe: '|' }[String(encoding)] ?? ',';
		if (encoding === 'deepObject' || encoding === 'members') throw notSent(label, value);
		const dividedPart = parts.find((part) => part.includes(separator));
		if (dividedPart === undefined) return { [name]: separator === ',' ? parts : parts.join(separator) };
		throw new DividedValue(
			`${label}: “${dividedPart}” contains “${separator}”, which the CRM uses to separate values. Filter by one value at a time.`,
		);
	}
	if (typeof value !== 'object' || value === null) return { [name]: value as string };
	const members = Object.entries(value).map(([key, member]) => {
		if (key.trim() === '' || member === '') throw notSent(label, value);
		return [key, single(label, member)] as const;
	});
	if (encoding === 'members') return Object.fromEntries(members);
	if (encoding === 'deepObject') {
		return Object.fromEntries(members.map(([key, text]) => [`${name}[${key}]`, text]));
	}
	throw notSent(label, value);
}

/** The service would read one value as several. */
export class DividedValue extends Error {}

function single(label: string, value: unknown): string {
	if (typeof value === 'object') throw notSent(label, value);
	return String(value);
}

function notSent(label: string, value: unknown): Error {
	return new Error(
		`${label}: the CRM does not describe how to filter by a value such as ${JSON.stringify(value).slice(0, 100)}, so nothing was read. Filter by a single value.`,
	);
}
