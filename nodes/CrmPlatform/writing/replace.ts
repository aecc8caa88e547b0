import type { IDataObject } from 'n8n-workflow';

import { breaksRule } from '../api/http/rules';
import { mergePatch } from '../api/record';
import { idText, isObject } from '../base/json';
import { isDecimal, withExactNumbers } from '../base/numbers';
import type { WriteDescription } from '../api/openapi/writing';
import { currentFields, readableCustomFields } from '../api/customFields';
import { allCustomFields, type Field } from '../fields/field';
import { isNumeric, mayBeObjects, valueKind } from '../fields/fieldKinds';
import { outdatedVersion } from '../api/http/statuses';
import { NotSent } from '../api/refusals';
import type { NodeRun, Write } from '../model';
import { versionOf } from './versions';

/**
 * The whole record with the changed values, for a service that replaces records (PUT, RFC 9110, section 9.3.4): a partial
 * one would erase the rest.
 *
 * @returns the record, and the strong ETag of the record that was read; `unchanged`, the record that was read, if it has the
 * wanted values already, perhaps after an earlier attempt: another version would be refused under its key
 * @throws NodeApiError 412 if the record has another version than the caller read; NotSent if it cannot be read and sent back as
 * it is, or if the service does not version records, since a concurrent change would be lost
 */
export async function replacementFor(
	{ api }: NodeRun,
	{ sends, fields }: Pick<WriteDescription, 'sends' | 'fields'>,
	{ id, collection, path, body, version }: Write,
): Promise<{ record: IDataObject; etag: string | undefined; unchanged: IDataObject | undefined }> {
	const { body: answer, headers: { etag } } = await api.send({ method: 'GET', path });
	const isWhole = isObject(answer) && idText(answer.id) === id && (version === undefined || versionOf(answer) !== undefined);
	if (!isWhole) throw new NotSent(otherAnswer);
	if (version !== undefined && String(answer.version) !== String(version)) {
		const message = 'The record has changed since it was read';
		throw api.failure({ message, description: 'Nothing was overwritten.', status: outdatedVersion, details: { status: outdatedVersion } });
	}
	const current: IDataObject = Object.fromEntries(Object.entries(answer).filter(([name]) => sends?.(name)));
	if (Object.keys(current).length === 0) throw new NotSent(otherAnswer);
	const places = longNumbersIn(current);
	const custom = places.some(([member]) => member === allCustomFields) ? await readableCustomFields(api, collection) : undefined;
	const inexact = places.find((place) => !isNoNumber(place, [...fields, ...currentFields(custom), ...(custom?.unwritable ?? [])]));
	if (inexact) throw new NotSent(`${inexact.join('.')}: the record has a number of more than 15 digits, which cannot be sent back as it is. Nothing was written. ${sendItYourself}`);
	const record = mergePatch(current, body ?? {});
	const strongEtag = etag?.startsWith('W/') ? undefined : etag;
	if (strongEtag === undefined && (record.version ?? null) === null) throw new NotSent(unversioned);
	return { record, etag: strongEtag, unchanged: JSON.stringify(record) === JSON.stringify(current) ? answer : undefined };
}

/** The paths of the texts within a value that may have been numbers with more digits than JavaScript keeps. */
function longNumbersIn(value: unknown, path: string[] = []): string[][] {
	if (typeof value === 'object' && value !== null) {
		return Object.entries(value).flatMap(([name, member]) => longNumbersIn(member, Array.isArray(value) ? path : [...path, name]));
	}
	return typeof value === 'string' && isDecimal(value) && withExactNumbers(value) !== value ? [path] : [];
}

/** Whether the values at a path are described, and not as numbers: a number that was read as text would go back as text. */
function isNoNumber(path: string[], fields: Field[]): boolean {
	const fieldAt = (place: string[]) => fields.find((field) => field.path.join('.') === place.join('.'));
	const field = fieldAt(path) ?? fieldAt(path.slice(0, -1))?.members?.find(({ name }) => name === path.at(-1));
	const kind = field && valueKind(field);
	return kind !== undefined && !isNumeric({ kind }) && !mayBeObjects({ kind });
}

const sendItYourself = 'To send the whole record, use API Request of the node CRM Platform Admin.';
const otherAnswer =
	`Instead of this record, the CRM returned another one, part of it, or nothing. ${breaksRule(20)} Nothing was written, because the rest of the record would be erased. ${sendItYourself}`;
const unversioned =
	`The CRM replaces whole records and does not version them (ETag), so changes made by others at the same time would be lost. ${breaksRule(2)} Nothing was written. ${sendItYourself}`;
