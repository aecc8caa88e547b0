import type { IDataObject } from 'n8n-workflow';

import type { WriteDescription } from '../api/openapi/writing';
import type { Execution } from '../model';
import { matchingColumn } from './stored';

/** The field an upsert finds the record by, and the value a record has for it. */
export interface UpsertMatch {
	field: string;
	/** Whether other items may match on another field. */
	mayDiffer: boolean;
	/** @throws Error in the user's words where there is none */
	valueIn(body: IDataObject): string;
}

/**
 * What the user chose to match on, or the first the service names where they left that blank.
 *
 * @returns reads it for an input item; nothing where the service takes no choice
 * @throws Error in the user's words from what is returned, where an expression gives nothing
 */
export function upsertMatch(
	job: Execution,
	parameter: string,
	{ match }: WriteDescription,
): (item: number) => UpsertMatch | undefined {
	const { mayDiffer, of } = matchingColumn(job.n8n, parameter);
	const first = match?.values[0];
	return (item) => {
		const field = of(item) ?? (mayDiffer ? undefined : first);
		if (field !== undefined) return { field, mayDiffer, valueIn: (body) => valueOf(field, body) };
		if (first === undefined) return undefined;
		throw new Error(
			`Match On: the expression gives nothing for this item. Let it give the name of a field, such as ‘${first}’, or choose a field from the list.`,
		);
	};
}

function valueOf(field: string, body: IDataObject): string {
	const value = body[field] ?? field.split('.').reduce<unknown>(memberOf, body) ?? null;
	if (value !== null) return String(value);
	throw new Error(
		`There is no value for ‘${field}’, the field to match on. Fill it in, or match on another field.`,
	);
}

function memberOf(value: unknown, key: string): unknown {
	return (value as IDataObject | null | undefined)?.[key];
}
