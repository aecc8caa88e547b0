import { isObject } from '../base/json';
import { allCustomFields, customKeyOf } from '../fields/field';
import { partsOf, type LiveLinks } from './liveLinks';
import type { PlanFields } from './planFields';
import { allKept, restoresValues, type FieldUndo, type RecordUndo } from './recordUndo';

/** A previous value as it can be written now. */
interface LivePart {
	name: string;
	/** Absent if nothing is left to write. */
	value?: unknown;
	/** Whether a link was left out, as its record does not exist. */
	lacksLink?: boolean;
	/** Whether the service requires that link. */
	lacksRequiredLink?: boolean;
	/** Whether the custom field cannot be written any more. */
	isUnwritable?: boolean;
}

/**
 * Prepares an undo for the records that exist now: links to missing records and values of custom fields that can no
 * longer be written are left out, and links to records that were created again get their new ids.
 */
export function resolveLinks(undo: RecordUndo, links: LiveLinks, fields: PlanFields): RecordUndo {
	if (!restoresValues(undo)) return undo;
	const resolved = undo.changes.map((change) => {
		const toParts = ([name, value]: [string, unknown]) => livePart(undo, name, value, links, fields);
		const parts = change.kept ? [] : partsOf(change.field, change.to).map(toParts);
		return { parts, changes: change.kept ? [change] : changesFrom(undo, change, parts) };
	});
	const changes = resolved.flatMap((change) => change.changes);
	const parts = resolved.flatMap((change) => change.parts);
	const withoutLink = parts.filter(({ lacksLink }) => lacksLink).map(({ name }) => name);
	const unwritable = parts.filter(({ isUnwritable }) => isUnwritable).map(({ name }) => name);
	if (withoutLink.length + unwritable.length === 0) return { ...undo, changes };

	const isRequired = parts.some(({ lacksRequiredLink }) => lacksRequiredLink);
	const reason = [
		undo.reason,
		withoutLink.length > 0 && `${withoutLink.join(', ')}: a linked record no longer exists, or is not visible to the credential.`,
		isRequired && 'The CRM requires this link, so the record was not created again.',
		unwritable.length > 0 && `${unwritable.join(', ')}: the custom field was deleted since, or is read-only.`,
	].filter(Boolean).join(' ');
	const { action, ...rest } = { ...undo, changes, reason };
	if (isRequired) return { ...rest, changes: allKept(changes), result: 'cannot_be_undone' };
	const isLeft = action === 'create' || changes.some(({ kept }) => !kept);
	if (!isLeft) return { ...rest, result: undo.result === 'conflict' ? 'conflict' : 'cannot_be_undone' };
	const result = unwritable.length > 0 && undo.result === 'undone' ? 'cannot_be_undone' : undo.result;
	return { ...rest, result, ...(action && { action }) };
}

function livePart(undo: RecordUndo, name: string, value: unknown, links: LiveLinks, fields: PlanFields): LivePart {
	if (customKeyOf(name) !== undefined && !fields.canWriteCustomField(undo, name)) return { name, isUnwritable: true };
	const field = fields.linkFieldsOf(undo).get(name);
	if (!field || (value ?? null) === null) return { name, value };
	const live = links.withLiveLinks(field, value);
	return { name, ...live, lacksRequiredLink: undo.action === 'create' && field.required && live.value === undefined };
}

function changesFrom(undo: RecordUndo, change: FieldUndo, parts: LivePart[]): FieldUndo[] {
	const liveParts = parts.filter(({ value }) => value !== undefined);
	if (parts.length > 0 && liveParts.length === 0) return undo.action === 'create' ? [] : [{ ...change, kept: true }];
	if (change.field !== allCustomFields || !isObject(change.to)) return [{ ...change, to: liveParts[0]?.value }];
	const customFields = liveParts.map(({ name, value }): [string, unknown] => [customKeyOf(name)!, value]);
	return [{ ...change, to: Object.fromEntries(customFields) }];
}
