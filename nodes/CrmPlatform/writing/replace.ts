import type { IDataObject } from 'n8n-workflow';

import { isAnsweredWith } from '../api/find';
import { isObject } from '../api/http/json';
import { mergePatch } from '../api/record';
import type { WriteDescription } from '../api/openapi/writing';
import type { Execution } from '../model';
import type { Write } from './order';
import { writeOne, type Written } from './single';

/** A change of a record by a service that replaces records as a whole (PUT, RFC 9110, section 9.3.4). */
export interface Replacement extends Write {
	id: string;
	body: IDataObject;
}

export const isReplacement = ({ replaces }: WriteDescription, write: Write): write is Replacement =>
	replaces === true && write.id !== undefined && write.body !== undefined;

/**
 * Reads a record, changes it, and writes it under the condition that it is still the version that was read:
 * a part alone would erase the rest of the record.
 *
 * @throws NodeApiError 412 where the record is another than the caller has read; Error in the user's words
 * where the service has no versions, or an ETag that is none, as a concurrent change by someone else would be lost
 */
export async function replaceRecord(
	execution: Execution,
	description: WriteDescription,
	{ id, path, body: changes, version, before }: Replacement,
	items: number[],
): Promise<Written> {
	const { api, resource } = execution;
	const { body: record, headers, status } = await api.send({ method: 'GET', path });
	if (!isObject(record)) throw new Error(unversioned);
	const isOther = version !== undefined && record.version !== undefined && String(record.version) !== String(version);
	if (isOther || (before && hasOtherValues(before, record, changes))) {
		throw api.failure({ message: changed, description: 'Nothing was overwritten.', status: 412, details: { status: 412 } });
	}
	// The fields of the description itself: an operation with presets asks for some of them only.
	const fields = (await api.describe(resource.path))?.update?.fields ?? [];
	const members = new Set(fields.map(({ path: [member = ''] }) => member));
	const { etag } = headers;
	const isConditional = etag !== undefined && !etag.startsWith('W/');
	const ofMembers = (one: IDataObject) => Object.fromEntries(Object.entries(one).filter(([name]) => members.has(name)));
	const current = ofMembers(record);
	const whole = mergePatch(current, changes);
	// A description may name a version that this record does not have.
	const isVersioned = [current.version, whole.version].every((one) => one !== undefined && one !== null);
	if (!isConditional && !isVersioned) throw new Error(unversioned);
	if (!description.takesIfMatch && !isVersioned) api.notices.add(unprotected);
	// An earlier attempt has written it: another version under its key would be refused.
	if (JSON.stringify(whole) === JSON.stringify(current)) return { record, status };
	const condition = isConditional ? { headers: { 'if-match': etag } } : {};
	return await writeOne(execution, description, { id, path, body: whole, ...condition }, items).catch(async (error: Error) => {
		if (!isConditional || !isAnsweredWith(error, 412)) throw error;
		const again = await api.send({ method: 'GET', path });
		const isSame = isObject(again.body) && JSON.stringify(ofMembers(again.body)) === JSON.stringify(current);
		throw isSame && again.headers.etag !== etag ? new Error(otherEtag) : error;
	});
}

/** Whether a value that is about to be written has changed since it was read. */
function hasOtherValues(before: IDataObject, now: IDataObject, changes: IDataObject): boolean {
	return Object.entries(changes).some(([name, value]) => {
		const [own, other] = [before[name] ?? null, now[name] ?? null];
		if (isObject(value) && isObject(own) && isObject(other)) return hasOtherValues(own, other, value);
		return JSON.stringify(own) !== JSON.stringify(other);
	});
}

/** Where a change by someone else between reading and writing is not noticed. */
export const unprotected =
	'The service does not accept a version with a write, so changes made by others while this node runs can be overwritten.';
const otherEtag =
	'The service’s ETag is another one in each answer though the record stays the same, so it is no version of the record, and every write under it is refused (412). Nothing was written. To send the whole record without it, use the resource Other API Request.';
const changed = 'The record has changed since it was read';
const unversioned =
	'The service replaces whole records and does not version them (ETag), so changes made by others at the same time would be lost. Nothing was written. To send the whole record, use the resource Other API Request.';
