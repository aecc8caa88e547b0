import type { IDataObject } from 'n8n-workflow';

import { isAnsweredWith } from '../api/fetchRecord';
import { idText, isObject } from '../base/json';
import { mergePatch, otherId } from '../api/answeredRecord';
import type { WriteDescription } from '../api/openapi/writing';
import { outdatedVersion } from '../api/http/statuses';
import type { Execution } from '../model';
import type { Write } from './writeOrder';
import { writeOne, type Written } from './writeOne';

/** A write that the record is read for once more. */
interface ReadFirst extends Write {
	id: string;
}

/** Whether the service replaces records as a whole, or tells the version of one only with the record itself. */
export const isReadFirst = ({ replaces, takesIfMatch }: WriteDescription, write: Write): write is ReadFirst =>
	write.id !== undefined &&
	((replaces === true && write.body !== undefined) ||
		(takesIfMatch === true && write.version === undefined && write.before !== undefined));

/** The version that a record was read with, if the service tells it. */
export function versionOf(record: IDataObject | undefined): string | number | undefined {
	const version = record?.version;
	return typeof version === 'number' || typeof version === 'string' ? version : undefined;
}

/**
 * How writes of one kind are kept from overwriting what somebody else changes after the records were read. Tells
 * the user where they cannot be.
 *
 * @param records as they were read; undefined for each that is to be created
 */
export function protectionOf(
	{ api }: Execution,
	description: WriteDescription,
	records: Array<IDataObject | undefined>,
): { isVersioned: boolean; isReadFirst: boolean } {
	const { replaces, takesIfMatch, batch } = description;
	const versioned = records.filter((record) => versionOf(record) !== undefined).length;
	const areCreated = records[0] === undefined;
	// A replacement is compared with what was read, whether or not the list tells versions.
	// Where the list tells no version, each record is read for its ETag.
	const areReadFirst = !areCreated && !replaces && takesIfMatch === true && versioned < records.length;
	const areProtected = replaces || areReadFirst || (versioned === records.length && (takesIfMatch ?? batch?.takesVersion));
	if (!areCreated && !areProtected) api.notices.add(unprotected);
	return { isVersioned: versioned > 0, isReadFirst: areReadFirst };
}

/**
 * Reads a record, and writes it under the condition that it is still the version that was read. Where the service
 * replaces whole records (PUT, RFC 9110, section 9.3.4), a part alone would erase the rest of it.
 *
 * @throws NodeApiError 412 where the record is another than the caller has read; Error in the user's words
 * where the service replaces records without versions, or has an ETag that is none, as a concurrent change by
 * someone else would be lost
 */
export async function writeAsRead(
	execution: Execution,
	description: WriteDescription,
	{ id, path, body: changes, version, before }: ReadFirst,
	items: number[],
): Promise<Written> {
	const { api } = execution;
	const { body: record, headers, status } = await api.send({ method: 'GET', path });
	if (!isObject(record) || idText(record.id) === undefined || otherId(record, id) !== undefined) throw new Error(otherAnswer);
	// A whole record is written from it: a summary would erase the rest.
	if (description.replaces && before && !Object.keys(before).every((name) => Object.hasOwn(record, name))) throw new Error(otherAnswer);
	const isOther = version !== undefined && record.version !== undefined && String(record.version) !== String(version);
	if (isOther || (before && hasOtherValues(before, record, changes ?? before))) {
		throw api.failure({ message: changed, description: 'Nothing was overwritten.', status: outdatedVersion, details: { status: outdatedVersion } });
	}
	const { etag } = headers;
	const isConditional = etag !== undefined && !etag.startsWith('W/');
	const isSent = description.replaces ? await sentMembers(execution) : () => true;
	const asSent = (object: IDataObject) => Object.fromEntries(Object.entries(object).filter(([name]) => isSent(name)));
	const current = asSent(record);
	if (description.replaces && Object.keys(current).length === 0) throw new Error(otherAnswer);
	const requestBody = description.replaces ? mergePatch(current, changes ?? {}) : changes;
	// A description may name a version that this record does not have.
	const isVersioned = [current.version, requestBody?.version].every((value) => value !== undefined && value !== null);
	if (description.replaces && !isConditional && !isVersioned) throw new Error(unversioned);
	if (!isVersioned && !(description.takesIfMatch && isConditional)) api.notices.add(unprotected);
	// An earlier attempt has written it: another version under its key would be refused.
	if (description.replaces && JSON.stringify(requestBody) === JSON.stringify(current)) return { record, status };
	const write = { id, path, ...(requestBody && { body: requestBody }), ...(isConditional && { headers: { 'if-match': etag } }) };
	return await writeOne(execution, description, write, items).catch(async (error: Error) => {
		if (!isConditional || !isAnsweredWith(error, outdatedVersion)) throw error;
		const again = await api.send({ method: 'GET', path });
		const isSame = isObject(again.body) && JSON.stringify(asSent(again.body)) === JSON.stringify(current);
		throw isSame && again.headers.etag !== etag ? new Error(otherEtag) : error;
	});
}

/** Read-only members are not sent; undescribed members are, unless the description forbids them. */
async function sentMembers({ api, resource }: Execution): Promise<(name: string) => boolean> {
	const { update, fields = [] } = (await api.describe(resource.path)) ?? {};
	// The fields of the description itself: an operation with presets asks for some of them only.
	const members = new Set(update?.fields.map(({ path: [member = ''] }) => member));
	const readOnly = new Set(['id', ...(update?.readOnly ?? []), ...fields.flatMap(({ name, isReadOnly }) => (isReadOnly ? [name] : []))]);
	return (name) => members.has(name) || !(update?.isClosed || readOnly.has(name));
}

/** Whether a value that is about to be written has changed since it was read. */
function hasOtherValues(before: IDataObject, now: IDataObject, changes: IDataObject): boolean {
	return Object.entries(changes).some(([name, value]) => {
		const [previousValue, currentValue] = [before[name] ?? null, now[name] ?? null];
		if (isObject(value) && isObject(previousValue) && isObject(currentValue)) return hasOtherValues(previousValue, currentValue, value);
		return JSON.stringify(previousValue) !== JSON.stringify(currentValue) && !isSameTime(previousValue, currentValue);
	});
}

/** Whether two texts are one time, which lists and single records may write in different notations. */
const isSameTime = (a: unknown, b: unknown): boolean =>
	[a, b].every((text) => typeof text === 'string' && /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text)) &&
	Date.parse(String(a)) === Date.parse(String(b));

/** Shown if a change by someone else between reading and writing would go unnoticed. */
const unprotected =
	'The CRM does not accept a version with a write, so changes made by others while this node runs can be overwritten.';
const otherEtag =
	'The CRM returns a different ETag each time although the record stays the same, so the ETag is not a version of the record, and every write with it is refused (412). Nothing was written. To send the whole record without it, use API Request of the node CRM Platform Admin.';
const otherAnswer =
	'Instead of this record, the CRM returned another one, part of it, or nothing. Nothing was written, because the rest of the record would be erased. To send the whole record, use API Request of the node CRM Platform Admin.';
const changed = 'The record has changed since it was read';
const unversioned =
	'The CRM replaces whole records and does not version them (ETag), so changes made by others at the same time would be lost. Nothing was written. To send the whole record, use API Request of the node CRM Platform Admin.';

/** A version as the header takes it; some services give the ETag itself as the version. */
export const etagOf = (version: string | number): string =>
	/^(W\/)?".*"$/.test(String(version)) ? String(version) : `"${version}"`;
