import type { IDataObject } from 'n8n-workflow';

import type { WriteDescription } from '../api/writing';
import type { Job } from '../model';
import { matchingColumn } from './mapping';

/** The field an upsert finds the record by, and the value a record has for it. */
export interface Match {
	field: string;
	/** @throws Error in the user's words where there is none */
	valueIn(body: IDataObject): string;
}

/**
 * What the user chose to match on, or the first the service names.
 *
 * @returns reads it for an input item; nothing where the service takes no choice
 */
export function matchOf(
	job: Job,
	parameter: string,
	{ match }: WriteDescription,
): (item: number) => Match | undefined {
	const chosen = matchingColumn(job.n8n, parameter);
	return (item) => {
		const field = chosen(item) ?? match?.values[0];
		return field === undefined ? undefined : matchOn(field);
	};
}

function matchOn(field: string): Match {
	return {
		field,
		valueIn(body) {
			const value = body[field] ?? field.split('.').reduce<unknown>(memberOf, body) ?? null;
			if (value !== null) return String(value);
			throw new Error(
				`There is no value for ‘${field}’, the field to match on. Fill it in, or match on another field.`,
			);
		},
	};
}

function memberOf(value: unknown, key: string): unknown {
	return (value as IDataObject | null | undefined)?.[key];
}
