import type { IDataObject } from 'n8n-workflow';

import type { Connection } from './connection';
import { idText, isObject } from '../base/json';
import { isPlainObject, ownMember, setMember } from '../base/ownMembers';
import { wholePath } from './http/path';
import { undefinedIfGone } from './refusals';

/**
 * Reads the record at a path.
 *
 * @throws NodeApiError if the request fails, Error in the user's words if the response is not a record
 */
export async function readRecord(api: Connection, path: string): Promise<IDataObject> {
	const { body } = await api.send({ method: 'GET', path });
	if (isObject(body)) return body;
	throw new Error(`The response from ${wholePath(path)} is not a record. Check that the base URL in the credential is the URL of the API, then try again.`);
}

/**
 * Reads the record at a path; undefined if it does not exist (404, 410).
 *
 * @throws as readRecord does
 */
export async function findRecord(api: Connection, path: string): Promise<IDataObject | undefined> {
	return await undefinedIfGone(readRecord(api, path));
}

/**
 * The record in a response.
 *
 * @param body parsed JSON
 * @returns undefined for a response without a body
 * @throws Error in the user's words for a text, a number or a list
 */
export function recordIn(body: unknown, path: string): IDataObject | undefined {
	if (body === undefined || body === null) return undefined;
	if (isObject(body)) return body;
	throw new Error(
		`The response from ${wholePath(path)} is not a record. The record may have been written: check it before you try again. ` +
			'Also check that the base URL in the credential is the URL of the API.',
	);
}

/** The id in the response, if it has one other than the requested id. */
export function otherId(record: IDataObject | undefined, id: string): string | undefined {
	const returnedId = idText(record?.id);
	return returnedId !== undefined && returnedId !== id ? returnedId : undefined;
}

/** A record after a merge patch (RFC 7396), except that null stays: records have all their fields. */
export function mergePatch(record: IDataObject, patch: IDataObject): IDataObject {
	const result = { ...record };
	for (const [name, value] of Object.entries(patch)) {
		const currentValue = ownMember(record, name);
		setMember(result, name, isPlainObject(value) ? mergePatch(isObject(currentValue) ? currentValue : {}, value as IDataObject) : value);
	}
	return result;
}

/** A value for a merge patch that leaves nothing of the one that it replaces: null for each member that only that one has. */
export function patchReplacing(replaced: unknown, value: unknown): unknown {
	if (!isObject(replaced) || !isObject(value)) return value;
	const result = { ...value };
	for (const [name, member] of Object.entries(replaced)) setMember(result, name, patchReplacing(member, ownMember(value, name) ?? null));
	return result;
}

/** The member that Create or Update adds to its records: `created` or `updated`. */
export const upsertOutcomeField = 'upsert_outcome';

/** The fields that may name a record: services differ, and custom objects have a title. */
export const nameFields = ['name', 'title', 'subject', 'label', 'label_plural', 'email'];

export const recordName = (record: IDataObject): string | undefined => firstText(record, nameFields);

export const firstText = (record: IDataObject, fields: string[]): string | undefined =>
	fields.map((field) => record[field]).find((value): value is string => typeof value === 'string' && value !== '');
