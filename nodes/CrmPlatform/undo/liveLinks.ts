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
import { livingRecreation, type RecordHistory, recordKey } from './history';
import { explain, sentences } from './reasons';
import type { RecordUndo } from './recordUndo';
import { type FieldsByCollection, withoutFields } from './undoFields';

/** Identifies the record that a link names. */
const linkKey = (target: Collection, id: unknown): string => recordKey({ collection: target, id: idText(id) ?? '' });

/** A record that a link names, or a part of one, such as a stage. */
interface Target {
	/** `/companies`, or `/pipelines.stages` for a part. */
	collection: Collection;
	id: string;
}

/** The links of a plan: which of the linked records exist, their names, and which have another id now. */
export class LiveLinks {
	private readonly fields: FieldsByCollection;
	private readonly missingRecords = new Set<string>();
	private readonly names = new Map<string, string>();
	private readonly newIds = new Map<string, string>();

	constructor(fields: FieldsByCollection, histories: RecordHistory[]) {
		this.fields = fields;
		for (const history of histories) {
			const recreation = livingRecreation(history);
			if (recreation) this.replaceId(history, recreation.id);
		}
	}

	/** Links to a deleted record become links to the record that was created in its place. */
	replaceId(history: RecordHistory, newId: string): void {
		this.newIds.set(recordKey(history), newId);
	}

	/** A value of a field with the ids of the records that were created again. @param field if it is a link */
	withNewIds(value: unknown, field: Field | undefined): unknown {
		return (field ? withReplacedIds(field, value, (target, id) => withNewId(id, this.newIds.get(linkKey(target, id)))) : value) ?? null;
	}

	/** Looks up which of the records exist that a plan links to, and the names of all. */
	async lookUp(api: Connection, undos: RecordUndo[]): Promise<void> {
		const idsByCollection = new Map<Collection, Set<string>>();
		for (const undo of undos) {
			const targets = undo.changes.flatMap(({ field, from, to }) => [to, from].flatMap((value) => this.targetsOf(undo, field, value)));
			for (const { collection, id } of targets) getOrCreate(idsByCollection, collection, () => new Set<string>()).add(id);
		}
		for (const [collection, ids] of idsByCollection) {
			// If these records cannot be read, the service reports the links that it refuses.
			const found = await namesAt(api, collection, [...ids]).catch(undefinedIfAnsweredWith(...notReadable));
			if (!found) continue;
			for (const id of ids) {
				const [key, name] = [recordKey({ collection, id }), found.get(id)];
				if (!found.has(id)) this.missingRecords.add(key);
				else if (name) this.names.set(key, name);
			}
		}
	}

	/** Whether an undo links to one of the records that are to be created again. */
	waitsFor(undo: RecordUndo, creations: ReadonlySet<string>): boolean {
		return creations.size > 0 && undo.changes.some(({ field, to, kept }) =>
			!kept && this.targetsOf(undo, field, to).map(recordKey).some((key) => creations.has(key) && this.isMissing(key)));
	}

	/**
	 * An undo with links to existing records only: links to missing records are left out, and links to records that were
	 * created again get their new ids. A field stays if no link is left, or only those that it has.
	 *
	 * @param creations the records that are created before, as far as they are missing
	 */
	withLiveLinks(undo: RecordUndo, creations: ReadonlySet<string> = new Set()): RecordUndo {
		if (undo.action !== 'update' && undo.action !== 'create') return undo;
		const fields = this.fields.get(undo.history.collection)!;
		const [withoutLink, lost] = [new Set<string>(), new Set<string>()];
		const changes = undo.changes.map((change): Change => {
			const { field, from, to, kept } = change;
			const link = kept || hasOnlyBlanks(to) ? undefined : this.linkOf(undo, field);
			if (!link) return change;
			const { value, lacksLink } = this.liveValue(link, to, creations);
			if (lacksLink) withoutLink.add(field);
			if (value !== undefined && !(lacksLink && fields.compare.isSame(field, from, value))) return { ...change, to: value };
			lost.add(eventName(field));
			return change;
		});
		if (withoutLink.size === 0) return { ...undo, changes };
		const reason = sentences(undo.reason, explain('missingLinks', [...withoutLink].join(', ')).reason);
		return withoutFields({ ...undo, changes, reason }, lost, fields);
	}

	/** A value as people read it: names beside the ids of records. */
	shown(undo: RecordUndo, name: string, value: unknown): string {
		const field = this.linkOf(undo, name);
		if (value === null || value === undefined) return 'empty';
		if (!field) return typeof value === 'string' ? `“${value}”` : JSON.stringify(value);
		const links = targetsIn(field, value).map((target) => {
			const found = this.names.get(recordKey(target));
			return found === undefined ? target.id : `${found} (${target.id})`;
		});
		return links.join(', ') || 'empty';
	}

	/**
	 * Removes links to missing records from a value, and replaces the ids of records that were created again.
	 *
	 * @returns no value if no link is left; also whether a link was left out
	 */
	private liveValue(field: Field, value: unknown, creations: ReadonlySet<string>): { value?: unknown; lacksLink: boolean } {
		let lacksLink = false;
		const replacedValue = withReplacedIds(field, value, (target, id) => {
			const key = linkKey(target, id);
			const isMissing = this.isMissing(key) && !creations.has(key);
			lacksLink ||= isMissing;
			return isMissing ? undefined : withNewId(id, this.newIds.get(key));
		});
		if (!lacksLink) return { value: replacedValue, lacksLink };
		const isLive = (entry: unknown) => (field.collection === undefined ? (entry as IDataObject)?.id : entry) !== undefined;
		const liveEntries = Array.isArray(replacedValue) ? replacedValue.filter(isLive) : [];
		return liveEntries.length > 0 ? { value: liveEntries, lacksLink } : { lacksLink };
	}

	private isMissing(key: string): boolean {
		return this.missingRecords.has(key) && !this.newIds.has(key);
	}

	private linkOf({ history: { collection }, action }: RecordUndo, name: string): Field | undefined {
		return this.fields.get(collection)?.writtenLink(action === 'create' ? 'create' : 'update', name);
	}

	/** The records to which a value of a field links. */
	private targetsOf(undo: RecordUndo, name: string, value: unknown): Target[] {
		const field = this.linkOf(undo, name);
		return field ? targetsIn(field, value) : [];
	}
}

function targetsIn(field: Field, value: unknown): Target[] {
	return linkedIdsIn(field, value).flatMap(([collection, linked]) => {
		const id = idText(linked);
		return id === undefined ? [] : [{ collection, id }];
	});
}
