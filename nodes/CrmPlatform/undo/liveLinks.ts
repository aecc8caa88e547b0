import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import type { Collection } from '../api/http/path';
import { undefinedIfAnsweredWith } from '../api/record';
import { notReadable } from '../api/http/statuses';
import { linkedIdsIn, withNewId, withReplacedIds } from '../api/openapi/linkFields';
import { idText } from '../base/json';
import { getOrCreate } from '../base/maps';
import { hasOnlyBlanks } from '../values/blank';
import type { Change } from '../changes/merge';
import type { Field } from '../fields/field';
import { namesAt } from '../lookUp/linkedNames';
import { eventName } from '../log/eventFields';
import { recordKey } from './loggedEvent';
import { explain, sentences } from './reasons';
import { type RecordUndo, withoutFields } from './recordUndo';
import { linkKey, type Substitutes } from './recreations';

/** The records that a plan links to, by their keys. */
export interface LiveLinks {
	missing: ReadonlySet<string>;
	names: ReadonlyMap<string, string>;
	/** The ids of the records that exist in place of deleted ones. */
	newIds: Substitutes;
}

/** Looks up which of the records exist that a plan links to, and the names of all. */
export async function readLiveLinks(api: Connection, newIds: Substitutes, undos: RecordUndo[]): Promise<LiveLinks> {
	const idsByCollection = new Map<Collection, Set<string>>();
	for (const undo of undos) {
		const targets = undo.changes.flatMap(({ field, from, to }) => [to, from].flatMap((value) => targetsOf(undo, field, value)));
		for (const { collection, id } of targets) getOrCreate(idsByCollection, collection, () => new Set<string>()).add(id);
	}
	const [missing, names] = [new Set<string>(), new Map<string, string>()];
	for (const [collection, ids] of idsByCollection) {
		// If these records cannot be read, the service reports the links that it refuses.
		const found = await namesAt(api, collection, [...ids]).catch(undefinedIfAnsweredWith(...notReadable));
		if (!found) continue;
		for (const id of ids) {
			const [key, name] = [recordKey({ collection, id }), found.get(id)];
			if (!found.has(id)) missing.add(key);
			else if (name) names.set(key, name);
		}
	}
	return { missing, names, newIds };
}

/** Whether an undo links to one of the records that are to be created again. */
export function waitsFor(links: LiveLinks, undo: RecordUndo, creations: ReadonlySet<string>): boolean {
	return creations.size > 0 && undo.changes.some(({ field, to, kept }) =>
		!kept && targetsOf(undo, field, to).map(recordKey).some((key) => creations.has(key) && isMissing(links, key)));
}

/**
 * An undo with links to existing records only: links to missing records are left out, and links to records that were
 * created again get their new ids. A field stays if no link is left, or only those that it has.
 *
 * @param creations the records that are created before, as far as they are missing
 */
export function withLiveLinks(links: LiveLinks, undo: RecordUndo, creations: ReadonlySet<string> = new Set()): RecordUndo {
	if (undo.action !== 'update' && undo.action !== 'create') return undo;
	const [withoutLink, lost] = [new Set<string>(), new Set<string>()];
	const changes = undo.changes.map((change): Change => {
		const { field, from, to, kept } = change;
		const link = kept || hasOnlyBlanks(to) ? undefined : linkOf(undo, field);
		if (!link) return change;
		const { value, lacksLink } = liveValue(links, link, to, creations);
		if (lacksLink) withoutLink.add(field);
		if (value !== undefined && !(lacksLink && undo.fields.compare.isSame(field, from, value))) return { ...change, to: value };
		lost.add(eventName(field));
		return change;
	});
	if (withoutLink.size === 0) return { ...undo, changes };
	const reason = sentences(undo.reason, explain('missingLinks', [...withoutLink].join(', ')).reason);
	return withoutFields({ ...undo, changes, reason }, lost);
}

/**
 * Removes links to missing records from a value, and replaces the ids of records that were created again.
 *
 * @returns no value if no link is left; also whether a link was left out
 */
function liveValue(links: LiveLinks, field: Field, value: unknown, creations: ReadonlySet<string>): { value?: unknown; lacksLink: boolean } {
	let lacksLink = false;
	const replacedValue = withReplacedIds(field, value, (target, id) => {
		const key = linkKey(target, id);
		const isDead = isMissing(links, key) && !creations.has(key);
		lacksLink ||= isDead;
		return isDead ? undefined : withNewId(id, links.newIds.get(key));
	});
	if (!lacksLink) return { value: replacedValue, lacksLink };
	const isLive = (entry: unknown) => (field.collection === undefined ? (entry as IDataObject)?.id : entry) !== undefined;
	const liveEntries = Array.isArray(replacedValue) ? replacedValue.filter(isLive) : [];
	return liveEntries.length > 0 ? { value: liveEntries, lacksLink } : { lacksLink };
}

const isMissing = ({ missing, newIds }: LiveLinks, key: string): boolean => missing.has(key) && !newIds.has(key);

/** A value as people read it: names beside the ids of records. */
export function readableValue({ names }: LiveLinks, undo: RecordUndo, name: string, value: unknown): string {
	const field = linkOf(undo, name);
	if (value === null || value === undefined) return 'empty';
	if (!field) return typeof value === 'string' ? `“${value}”` : JSON.stringify(value);
	const targets = targetsIn(field, value).map((target) => {
		const found = names.get(recordKey(target));
		return found === undefined ? target.id : `${found} (${target.id})`;
	});
	return targets.join(', ') || 'empty';
}

const linkOf = ({ fields, action }: RecordUndo, name: string): Field | undefined =>
	fields.writtenLink(action === 'create' ? 'create' : 'update', name);

/** The records to which a value of a field links, or their parts: the collection of these is like `/pipelines.stages`. */
function targetsOf(undo: RecordUndo, name: string, value: unknown): Target[] {
	const field = linkOf(undo, name);
	return field ? targetsIn(field, value) : [];
}

type Target = { collection: Collection; id: string };

function targetsIn(field: Field, value: unknown): Target[] {
	return linkedIdsIn(field, value).flatMap(([collection, linked]) => {
		const id = idText(linked);
		return id === undefined ? [] : [{ collection, id }];
	});
}
