import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { setField } from './changedField';
import type { FieldUndo, RecordUndo } from './recordUndo';

/** The request body that writes the former values of a record. */
export function formerValues({ action, changes }: RecordUndo): IDataObject {
	const written = changes.filter(({ kept }) => !kept);
	return action === 'update' ? patchFor(written) : (Object.fromEntries(written.map(({ field, to }) => [field, to])) as IDataObject);
}

/** Returns the body as a merge patch (RFC 7396). */
function patchFor(changes: FieldUndo[]): IDataObject {
	const patch: IDataObject = {};
	for (const { field, from, to } of changes) setField(patch, field, patchedValue(from, to));
	return patch;
}

/** The service merges objects, so members that the former value lacks have to be cleared. */
function patchedValue(from: unknown, to: unknown): unknown {
	if (!isObject(to) || !isObject(from)) return to ?? null;
	const clearedMembers = Object.keys(from).filter((name) => !Object.hasOwn(to, name)).map((name) => [name, null]);
	const restoredMembers = Object.entries(to).map(([name, value]) => [name, patchedValue(from[name], value)]);
	return Object.fromEntries([...clearedMembers, ...restoredMembers]);
}
