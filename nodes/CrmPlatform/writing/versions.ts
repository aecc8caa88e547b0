import type { IDataObject } from 'n8n-workflow';

import { ruleBroken } from '../api/http/rules';
import type { WriteDescription } from '../api/openapi/writing';
import type { NodeRun } from '../model';

/** The version of a record (rule 12), a whole number: a text from 2^53 on. Undefined if it has none. */
export function versionOf(record: IDataObject | undefined): string | number | undefined {
	const version = record?.version;
	return (typeof version === 'number' || typeof version === 'string') && /^\d+$/.test(String(version)) ? version : undefined;
}

/** The same for comparisons. */
export function versionNumber(record: IDataObject): bigint | undefined {
	const version = versionOf(record);
	return version === undefined ? undefined : BigInt(version);
}

/** The version of a record as read. @throws Error in the user's words if it has none */
export function requiredVersion(record: IDataObject): bigint {
	const version = versionNumber(record);
	if (version === undefined) throw ruleBroken(12, `Record ${String(record.id)}`, 'It has no version, so changes made by others would go unnoticed. Nothing was written.');
	return version;
}

/**
 * Tells the user if writes can overwrite what others change after the records were read: without versions that writes check.
 *
 * @param records as read; undefined for each record to create
 * @returns whether each needs a request of its own, since items of a batch cannot name a version
 */
export function protectVersions({ api }: NodeRun, description: WriteDescription, records: Array<IDataObject | undefined>): boolean {
	const { takesIfMatch, sends, batch } = description;
	const versioned = records.filter((record) => versionOf(record) !== undefined).length;
	const areProtected = (takesIfMatch || sends?.('version')) && versioned === records.length;
	if (records[0] !== undefined && !areProtected) api.notices.add(unprotected);
	return takesIfMatch === true && versioned > 0 && !batch?.takesVersion;
}

export const unprotected =
	'The CRM’s records have no version, or nothing says that writes check it, so changes made by others while this node runs can be overwritten.';
