import type { IDataObject } from 'n8n-workflow';

import type { Field } from '../api/openapi/fields';
import type { Execution } from '../model';
import { mappedValues } from './mappedValues';
import { isObject } from './objectFields';
import { unsentValues, type UnsentValues } from './unsentValues';
import { storedMapping, type Mapping } from './stored';
import type { AcceptedFieldsOf } from './acceptedFields';
import { apiValue } from './values';
import { fieldsWithCustom } from './fieldsFor';

/** The values of one input item, as the service takes them. */
export type ReadFields = (item: number) => IDataObject;

/** What an empty value does: `clear` sends null, `skip` sends nothing. */
type Empty = 'clear' | 'skip';

/**
 * Reads what the user gave for `parameter`: by hand (what was left blank is not sent, an expression
 * that gives nothing clears the field), as one JSON object (null clears), or automatically (the
 * item's own values, those the service knows). Records that were picked beside go before.
 *
 * @param fields what the service takes
 * @throws Error in the user's words from what is returned, where a value is none for its field
 */
export async function readFields(
	job: Execution,
	parameter: string,
	fields: Field[],
	empty: Empty,
): Promise<ReadFields> {
	const mapping = storedMapping(job.n8n, parameter);
	return readAcceptedFields(job, mapping, await fieldsWithCustom(job, mapping, fields), empty);
}

/** The same, where it is known what the items can give values for, and who is told of others. */
export function readAcceptedFields(
	job: Execution,
	mapping: Mapping,
	takenBy: AcceptedFieldsOf,
	empty: Empty,
	left: UnsentValues = unsentValues(job.api.notices),
): ReadFields {
	const given = mappedValues(job, mapping, takenBy, left);
	const zone = job.n8n.getTimezone();

	return (item) => {
		const body: IDataObject = {};
		for (const [field, what] of given(item)) {
			const value = apiValue(field, what, zone);
			if (value !== null || empty === 'clear') put(body, field.path, value);
		}
		return body;
	};
}

function put(body: IDataObject, path: string[], value: unknown): void {
	const [key = '', ...rest] = path;
	if (rest.length === 0) {
		// Of an object given as a whole, a part given by itself as well goes before.
		const parts = body[key];
		body[key] =
			isObject(value) && isObject(parts) ? { ...value, ...parts } : (value as IDataObject);
		return;
	}
	// A copy: what is there may be a part of the item.
	const inner = { ...(body[key] as IDataObject | undefined) };
	body[key] = inner;
	put(inner, rest, value);
}
