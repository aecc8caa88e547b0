import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import { setByName } from './changedField';
import type { UndoneChange, Undoing } from './recordUndo';

/** The merge patch (RFC 7396) that makes the changes. */
function patchOf(changes: UndoneChange[]): IDataObject {
	const patch: IDataObject = {};
	for (const { field, from, to, kept } of changes) if (!kept) setByName(patch, field, difference(from, to));
	return patch;
}

/** What an undo writes. */
export const formerValues = ({ action, changes }: Undoing): IDataObject =>
	action === 'update' ? patchOf(changes) : (Object.fromEntries(changes.filter(({ kept }) => !kept).map(({ field, to }) => [field, to])) as IDataObject);

/** An object is merged: what it has now and had not before has to be cleared. */
function difference(from: unknown, to: unknown): unknown {
	if (!isObject(to) || !isObject(from)) return to ?? null;
	const clearedEntries = Object.keys(from).filter((name) => !Object.hasOwn(to, name)).map((name) => [name, null]);
	const restoredEntries = Object.entries(to).map(([name, value]) => [name, difference(from[name], value)]);
	return Object.fromEntries([...clearedEntries, ...restoredEntries]);
}
