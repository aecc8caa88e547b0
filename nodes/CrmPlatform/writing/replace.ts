import type { IDataObject } from 'n8n-workflow';

import { breaksRule, ruleBroken } from '../api/http/rules';
import { isAnsweredWith, mergePatch, otherId } from '../api/record';
import { idText, isObject } from '../base/json';
import type { WriteDescription } from '../api/openapi/writing';
import { outdatedVersion } from '../api/http/statuses';
import type { Field } from '../fields/field';
import { sameValue } from '../fields/same';
import type { Execution, Write } from '../model';
import { writeOne, type Written } from './writeOne';

/** A write for which the record is read again. */
interface ReadFirst extends Write {
	id: string;
}

/** Whether a record has to be read before the write: the service replaces whole records, or lists them without versions. */
export const isReadFirst = ({ replaces, takesIfMatch }: WriteDescription, write: Write): write is ReadFirst =>
	write.id !== undefined &&
	((replaces === true && write.body !== undefined) ||
		(takesIfMatch === true && write.version === undefined && write.before !== undefined));

/** The version in a record, if it has one. */
export function versionOf(record: IDataObject | undefined): string | number | undefined {
	const version = record?.version;
	return typeof version === 'number' || typeof version === 'string' ? version : undefined;
}

/** The version of a record (rule 12), a whole number of any length; undefined if it has none. */
export const versionNumber = ({ version }: IDataObject): bigint | undefined => (/^\d+$/.test(String(version)) ? BigInt(String(version)) : undefined);

/** The version of a record as read. @throws Error in the user's words if it has none */
export function requiredVersion(record: IDataObject): bigint {
	const version = versionNumber(record);
	if (version === undefined) throw ruleBroken(12, `Record ${String(record.id)}`, 'It has no version, so changes made by others would go unnoticed. Nothing was written.');
	return version;
}

/**
 * How writes of one kind avoid overwriting changes that others make after the records were read. Tells the user if they
 * cannot.
 *
 * @param records as read; undefined for each record to create
 */
export function protectionOf(
	{ api }: Execution,
	description: WriteDescription,
	records: Array<IDataObject | undefined>,
): { isVersioned: boolean; areReadFirst: boolean } {
	const { replaces, takesIfMatch, batch } = description;
	const versioned = records.filter((record) => versionOf(record) !== undefined).length;
	const areCreated = records[0] === undefined;
	// A replacement is compared with the record as read, with or without versions.
	// If the list does not return versions, each record is read for its ETag.
	const areReadFirst = !areCreated && !replaces && takesIfMatch === true && versioned < records.length;
	const areProtected = replaces || areReadFirst || (versioned === records.length && (takesIfMatch ?? batch?.takesVersion));
	if (!areCreated && !areProtected) api.notices.add(unprotected);
	return { isVersioned: versioned > 0, areReadFirst };
}

/**
 * Reads a record, and writes it on condition that it is still the version that was read. If the service replaces whole
 * records (PUT, RFC 9110, section 9.3.4), the changes are merged into it, since a partial record would erase the rest.
 *
 * @throws NodeApiError 412 if the record has changed since the caller read it; Error in the user's words if the service
 * replaces records without versions, or if its ETag is not a version, since a concurrent change would be lost
 */
export async function writeAsRead(
	execution: Execution,
	description: WriteDescription,
	{ collection, id, path, body: changes, version, before }: ReadFirst,
	items: number[],
): Promise<Written> {
	const { api } = execution;
	const { body: record, headers, status } = await api.send({ method: 'GET', path });
	if (!isObject(record) || idText(record.id) === undefined || otherId(record, id) !== undefined) throw new Error(otherAnswer);
	// The response has to be the whole record: replacing it by a summary would erase the rest.
	if (description.replaces && before && !Object.keys(before).every((name) => Object.hasOwn(record, name))) throw new Error(otherAnswer);
	const isOther = version !== undefined && record.version !== undefined && String(record.version) !== String(version);
	if (isOther || (before && hasOtherValues(description.fields, before, record, changes ?? before))) {
		throw api.failure({ message: changed, description: 'Nothing was overwritten.', status: outdatedVersion, details: { status: outdatedVersion } });
	}
	const { etag } = headers;
	const isConditional = etag !== undefined && !etag.startsWith('W/');
	const isSent = description.replaces ? await sentMembers(execution) : () => true;
	const asSent = (object: IDataObject) => Object.fromEntries(Object.entries(object).filter(([name]) => isSent(name)));
	const current = asSent(record);
	if (description.replaces && Object.keys(current).length === 0) throw new Error(otherAnswer);
	const requestBody = description.replaces ? mergePatch(current, changes ?? {}) : changes;
	// The description may have a version although this record does not.
	const isVersioned = [current.version, requestBody?.version].every((value) => value !== undefined && value !== null);
	if (description.replaces && !isConditional && !isVersioned) throw new Error(unversioned);
	if (!isVersioned && !(description.takesIfMatch && isConditional)) api.notices.add(unprotected);
	// Nothing changes, perhaps after an earlier attempt: under its key, another version would be refused.
	if (description.replaces && JSON.stringify(requestBody) === JSON.stringify(current)) return { record, status };
	const write = { collection, id, path, ...(requestBody && { body: requestBody }), ...(isConditional && { headers: { 'if-match': etag } }) };
	return await writeOne(execution, description, write, items).catch(async (error: Error) => {
		if (!isConditional || !isAnsweredWith(error, outdatedVersion)) throw error;
		const again = await api.send({ method: 'GET', path });
		const isSame = isObject(again.body) && JSON.stringify(asSent(again.body)) === JSON.stringify(current);
		throw isSame && again.headers.etag !== etag ? new Error(otherEtag) : error;
	});
}

/** Whether a member is sent: read-only members are not; undescribed members are, unless the description forbids them. */
async function sentMembers({ api, resource }: Execution): Promise<(name: string) => boolean> {
	const { update, fields = [] } = (await api.describe(resource.path)) ?? {};
	// All fields of the description: an operation with presets has only some of them.
	const members = new Set(update?.fields.map(({ path: [member = ''] }) => member));
	const readOnly = new Set(['id', ...(update?.readOnly ?? []), ...fields.flatMap(({ name, isReadOnly }) => (isReadOnly ? [name] : []))]);
	return (name) => members.has(name) || !(update?.isClosed || readOnly.has(name));
}

/** Whether a value that will be overwritten has changed since it was read: lists and single records may write it differently. */
function hasOtherValues(fields: Field[], before: IDataObject, now: IDataObject, changes: IDataObject, prefix = ''): boolean {
	return Object.entries(changes).some(([name, value]) => {
		const [previousValue, currentValue] = [before[name], now[name]];
		if (isObject(value) && isObject(previousValue) && isObject(currentValue)) {
			return hasOtherValues(fields, previousValue, currentValue, value, `${prefix}${name}.`);
		}
		const field = fields.find(({ path }) => path.join('.') === prefix + name);
		return !sameValue(field, previousValue, currentValue);
	});
}

/** Shown if a change by someone else between reading and writing would go unnoticed. */
const unprotected =
	'The CRM does not accept a version with a write, so changes made by others while this node runs can be overwritten.';
const otherEtag =
	`The CRM returns a different ETag each time although the record stays the same, so the ETag is not a version of the record, and every write with it is refused (412). ${breaksRule(12)} Nothing was written. To send the whole record without it, use API Request of the node CRM Platform Admin.`;
const otherAnswer =
	`Instead of this record, the CRM returned another one, part of it, or nothing. ${breaksRule(20)} Nothing was written, because the rest of the record would be erased. To send the whole record, use API Request of the node CRM Platform Admin.`;
const changed = 'The record has changed since it was read';
const unversioned =
	`The CRM replaces whole records and does not version them (ETag), so changes made by others at the same time would be lost. ${breaksRule(2)} Nothing was written. To send the whole record, use API Request of the node CRM Platform Admin.`;

/** A version as a strong ETag (rule 12). */
export const etagOf = (version: string | number): string => `"${version}"`;
