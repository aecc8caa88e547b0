import type { Connection } from '../api/connection';
import type { Collection } from '../api/http/path';
import { notReadable } from '../api/http/statuses';
import { linkedIdsIn } from '../api/openapi/linkFields';
import { undefinedIfAnsweredWith } from '../api/refusals';
import { idText } from '../base/json';
import { getOrCreate } from '../base/maps';
import type { FieldChange } from '../changes/recordChange';
import type { Field } from '../fields/field';
import { nameInEvents } from '../log/eventFields';
import { namesAt } from '../lookUp/linkedNames';
import { explain, sentences } from './reasons';
import { recordKey, type Substitutes, withSubstitutes } from './recordHistories';
import { type RecordUndo, withoutFields } from './recordUndo';

/** The records that a plan links to, by their keys. */
export interface LinkTargets {
	names: ReadonlyMap<string, string>;
	/** Those that did not exist when they were looked up. */
	absent: ReadonlySet<string>;
	/** The ids of the records that exist in place of deleted ones. */
	newIds: Substitutes;
}

/** Looks up which of the records exist that a plan links to, and the names of all. */
export async function lookUpTargets(api: Connection, newIds: Substitutes, undos: RecordUndo[]): Promise<LinkTargets> {
	const [names, absent] = [new Map<string, string>(), new Set<string>()];
	const idsByCollection = new Map<Collection, Set<string>>();
	for (const undo of undos) {
		const targets = undo.changes.flatMap(({ field, from, to }) => [to, from].flatMap((value) => targetsIn(linkOf(undo, field), value)));
		for (const { collection, id } of targets) getOrCreate(idsByCollection, collection, () => new Set<string>()).add(id);
	}
	for (const [collection, ids] of idsByCollection) {
		// If these records cannot be read, the service reports the links that it refuses.
		const found = await namesAt(api, collection, [...ids]).catch(undefinedIfAnsweredWith(...notReadable));
		if (!found) continue;
		for (const id of ids) {
			const [key, name] = [recordKey({ collection, id }), found.get(id)];
			if (!found.has(id)) absent.add(key);
			else if (name) names.set(key, name);
		}
	}
	return { names, absent, newIds };
}

const isMissing = ({ absent, newIds }: LinkTargets, key: string): boolean => absent.has(key) && !newIds.has(key);

/** Whether an undo links to one of the records that are to be created again. */
export function waitsFor(targets: LinkTargets, undo: RecordUndo, creations: ReadonlySet<string>): boolean {
	return creations.size > 0 && undo.changes.some(({ field, to, kept }) =>
		!kept && targetsIn(linkOf(undo, field), to).some(({ key }) => creations.has(key) && isMissing(targets, key)));
}

/**
 * Leaves out links to missing records; those to records created again get their new ids. A field stays if no link is left, or only those it has.
 *
 * @param creations the records that are created before, as far as they are missing
 */
export function withLiveLinks(targets: LinkTargets, undo: RecordUndo, creations: ReadonlySet<string> = new Set()): RecordUndo {
	if (undo.action !== 'update' && undo.action !== 'create') return undo;
	const isDead = ({ key }: { key: string }) => isMissing(targets, key) && !creations.has(key);
	const [withoutLink, lost] = [new Set<string>(), new Set<string>()];
	const changes = undo.changes.map((change): FieldChange => {
		const { field, from, to, kept } = change;
		const link = kept ? undefined : linkOf(undo, field);
		if (!link) return change;
		if (!targetsIn(link, to).some(isDead)) return { ...change, to: withSubstitutes(targets.newIds, link, to) };
		withoutLink.add(field);
		const liveEntries = Array.isArray(to) ? to.filter((entry) => !targetsIn(link, entry).some(isDead)) : [];
		const liveValue = withSubstitutes(targets.newIds, link, liveEntries);
		if (liveEntries.length > 0 && !undo.fields.compare.isSame(field, from, liveValue)) return { ...change, to: liveValue };
		lost.add(nameInEvents(field));
		return change;
	});
	if (withoutLink.size === 0) return { ...undo, changes };
	const reason = sentences(undo.reason, explain('missingLinks', [...withoutLink].join(', ')).reason);
	return withoutFields({ ...undo, changes, reason }, lost);
}

export const linkOf = ({ fields, action }: RecordUndo, name: string): Field | undefined =>
	fields.writtenLink(action === 'create' ? 'create' : 'update', name);

/** The records that a link names, or their parts: the collection of parts is like `/pipelines.stages`. */
export const targetsIn = (link: Field | undefined, value: unknown) =>
	(link ? linkedIdsIn(link, value) : []).flatMap(([collection, linked]) => {
		const id = idText(linked);
		return id === undefined ? [] : [{ collection, id, key: recordKey({ collection, id }) }];
	});
