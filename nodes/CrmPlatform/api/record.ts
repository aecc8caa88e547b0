import type { IDataObject } from 'n8n-workflow';

/**
 * The record an answer consists of.
 *
 * @param body parsed JSON
 * @returns undefined for an answer without a body
 * @throws Error in the user's words for a text, a number or a list of several
 */
export function recordIn(body: unknown, path: string): IDataObject | undefined {
	if (body === undefined || body === null) return undefined;
	const records: unknown[] = Array.isArray(body) ? body : [body];
	const [only, ...others] = records;
	if (typeof only === 'object' && only !== null && others.length === 0) return only as IDataObject;
	throw new Error(
		`The response from ${path} is not a record. The record may have been written: check it before you try again. Also check that the base URL in the credential is the address of the API.`,
	);
}
