import type { IDataObject } from 'n8n-workflow';

import { looseText } from '../fields/keys';
import { idText, isObject } from '../base/json';
import { isPlainObject, ownMember, setMember } from '../base/ownMembers';

/**
 * The record in a response.
 *
 * @param body parsed JSON
 * @returns undefined for a response without a body
 * @throws Error in the user's words for a text, a number or a list of several records
 */
export function recordIn(body: unknown, path: string): IDataObject | undefined {
	if (body === undefined || body === null) return undefined;
	const records: unknown[] = Array.isArray(body) ? body : [body];
	const [only, ...others] = records;
	if (typeof only === 'object' && only !== null && others.length === 0) return only as IDataObject;
	throw new Error(
		`The response from ${path} is not a record. The record may have been written: check it before you try again. Also check that the base URL in the credential is the URL of the API.`,
	);
}

/** The id in the response, if it has one other than the requested id. */
export function otherId(record: IDataObject | undefined, id: string): string | undefined {
	const returnedId = idText(record?.id);
	return returnedId !== undefined && looseText(returnedId) !== looseText(id) ? returnedId : undefined;
}

/** A record after a merge patch (RFC 7396), except that null stays: records have all their fields. */
export function mergePatch(record: IDataObject, patch: IDataObject): IDataObject {
	const result = { ...record };
	for (const [key, value] of Object.entries(patch)) {
		const currentValue = ownMember(record, key);
		setMember(result, key, isPlainObject(value) ? mergePatch(isObject(currentValue) ? currentValue : {}, value as IDataObject) : value);
	}
	return result;
}

/** The member that Create or Update adds to its records: `created` or `updated`. */
export const outcomeField = 'upsert_outcome';
