import type { IDataObject } from 'n8n-workflow';

import type { WriteDescription } from '../api/writing';

/** What an operation with a purpose of its own makes of the fields a write takes. */
export interface Narrowing {
	/** Written always, and not asked for. */
	preset?: IDataObject | undefined;
	/** The fields that are asked for, of all there are. */
	only?: string[] | undefined;
	/** Fields that are not asked for. */
	without?: string[] | undefined;
	/** Fields this operation makes no sense without. */
	required?: string[] | undefined;
}

/** The write with the fields that are asked for; nothing where the service does not offer the write. */
export function narrowed(
	write: WriteDescription | undefined,
	{ preset = {}, only, without = [], required = [] }: Narrowing,
): WriteDescription | undefined {
	if (!write) return undefined;
	const fields = write.fields
		.filter(({ name }) => !(name in preset) && !without.includes(name))
		.filter(({ name }) => only?.includes(name) ?? true)
		.map((field) => (required.includes(field.name) ? { ...field, required: true } : field));
	return { ...write, fields };
}
