import type { IDataObject } from 'n8n-workflow';

import { ownMember } from '../api/http/ownMembers';
import type { MatchDescription } from '../api/openapi/match';
import { valueIn } from '../fields/keys';
import type { Execution } from '../model';

/**
 * The field that the user chose to match on, if the service finds records by it: without it, another
 * record would be overwritten.
 *
 * @throws Error in the user's words where it does not, or its description does not say how or could not
 * be read
 */
export function checkedMatch({ api }: Execution, match: MatchDescription | undefined, field: string): string {
	api.requireDescription(`Match On ${field}`);
	if (!match) {
		throw new Error(
			`Match On: the service’s API description does not say how records are found by ${field}, so nothing was sent. Leave Match On empty to let the service choose, or find the records with Get Many and use Update.`,
		);
	}
	const { values, takesOthers = false, takesCustomFields } = match;
	const isCustom = takesCustomFields && field.startsWith('custom_fields.');
	// The packaged description does not know the fields of another service.
	if (takesOthers || isCustom || values.includes(field) || !api.isSelfDescribed()) return field;
	throw new Error(
		`Match On: the service does not find records by ${field}, so nothing was sent. Choose ${values.join(', ')}.`,
	);
}

/** The value that a record is found by; undefined where it has none. */
export function matchValue(field: string, body: IDataObject): string | undefined {
	const value = ownMember(body, field) ?? valueIn(body, { path: field.split('.') }) ?? null;
	return value === null ? undefined : String(value);
}

/** Why a record without that value is not sent. */
export const noMatchValue = (field: string): string =>
	`The field to match on, ${field}, has no value. Enter a value, or match on another field.`;
