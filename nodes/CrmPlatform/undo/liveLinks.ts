import type { IDataObject } from 'n8n-workflow';

import { getOrCreate } from '../base/maps';
import type { Connection } from '../api/connection';
import { isAnsweredWith } from '../api/fetchRecord';
import { idText, isObject } from '../base/json';
import { notReadable } from '../api/http/statuses';
import { withReplacedIds } from '../api/openapi/linkFields';
import { allCustomFields, customFieldPrefix, type Field } from '../fields/field';
import { recordsById } from './currentRecords';
import type { PlanFields } from './planFields';
import type { RecordHistory } from './recordHistory';
import { linkKey, recordKey, withNewId } from './recordIds';
import { restoresValues, type RecordUndo } from './recordUndo';

/** The links that a plan restores: which of the linked records exist, and which have another id now. */
export class LiveLinks {
	private readonly fields: PlanFields;
	private readonly missingRecords = new Set<string>();
	private readonly newIds = new Map<string, string>();
	private readonly toBeCreated = new Set<string>();

	constructor(fields: PlanFields, undos: RecordUndo[]) {
		this.fields = fields;
		for (const { history, newId, action } of undos) {
			if (newId !== undefined) this.replaceId(history, newId);
			if (action === 'create') this.toBeCreated.add(recordKey(history));
		}
	}

	/** Links to a deleted record become links to the record that was created in its place. */
	replaceId(history: RecordHistory, newId: string): void {
		this.newIds.set(recordKey(history), newId);
	}

	/** Looks up which of the linked records exist. */
	async lookUp(api: Connection, undos: RecordUndo[]): Promise<void> {
		const idsByCollection = new Map<string, Set<string>>();
		for (const undo of undos.filter(restoresValues)) {
			for (const { collection, id } of this.linksOf(undo)) {
				getOrCreate(idsByCollection, collection, () => new Set<string>()).add(id);
			}
		}
		for (const [collection, ids] of idsByCollection) {
			const description = await api.describe(collection);
			// If these records cannot be read, the service reports the links that it refuses.
			if (!description) continue;
			const reading = recordsById(api, { collection, list: description.list, fields: [] }, [...ids]);
			const found = await reading.catch((error: unknown) => {
				if (isAnsweredWith(error, ...notReadable)) return undefined;
				throw error;
			});
			for (const id of found ? ids : []) if (!found!.has(id)) this.missingRecords.add(recordKey({ collection, id }));
		}
	}

	/** Whether an undo links to a record that the plan has yet to create. */
	waitsForCreation(undo: RecordUndo): boolean {
		return this.missingLinks(undo).some((key) => this.toBeCreated.has(key));
	}

	/** Divides creations into waves: records that others link to come first. */
	*creationWaves(undos: RecordUndo[]): Generator<RecordUndo[]> {
		let remaining = undos;
		while (remaining.length > 0) {
			const remainingKeys = new Set(remaining.map(({ history }) => recordKey(history)));
			const free = remaining.filter((undo) => !this.missingLinks(undo).some((key) => remainingKeys.has(key)));
			// If records link to each other in a circle, the first one is created without its link.
			const wave = new Set(free.length > 0 ? free : remaining.slice(0, 1));
			yield [...wave];
			remaining = remaining.filter((undo) => !wave.has(undo));
		}
	}

	/**
	 * Removes links to missing records from a value, and replaces the ids of records that were created again.
	 *
	 * @returns no value if no link is left; also whether a link was left out
	 */
	withLiveLinks(field: Field, value: unknown): { value?: unknown; lacksLink: boolean } {
		let lacksLink = false;
		const replacedValue = withReplacedIds(field, value, (collection, id) => {
			const key = linkKey(collection, id);
			const isMissing = this.isMissing(key);
			lacksLink ||= isMissing;
			return isMissing ? undefined : withNewId(id, this.newIds.get(key));
		});
		if (Array.isArray(replacedValue)) {
			const idOf = (entry: unknown) => (field.collection === undefined ? (entry as IDataObject)?.id : entry);
			const liveEntries = replacedValue.filter((entry) => idOf(entry) !== undefined);
			if (liveEntries.length > 0 || !lacksLink) return { value: liveEntries, lacksLink };
		}
		return lacksLink ? { lacksLink } : { value: replacedValue, lacksLink };
	}

	/** Keys of the missing records that an undo links to. */
	private missingLinks(undo: RecordUndo): string[] {
		return this.linksOf(undo).map(recordKey).filter((key) => this.isMissing(key));
	}

	private isMissing(key: string): boolean {
		return this.missingRecords.has(key) && !this.newIds.has(key);
	}

	/** The records that an undo links to. */
	private linksOf(undo: RecordUndo): Array<{ collection: string; id: string }> {
		const linkFields = this.fields.linkFieldsOf(undo);
		const links: Array<{ collection: string; id: string }> = [];
		for (const [name, value] of undo.changes.flatMap(({ field, to, kept }) => (kept ? [] : partsOf(field, to)))) {
			const field = linkFields.get(name);
			if (!field) continue;
			withReplacedIds(field, value, (collection, id) => {
				const text = idText(id);
				if (text !== undefined) links.push({ collection: `/${collection}`, id: text });
				return id;
			});
		}
		return links;
	}
}

/** The fields in a change, with their values: a record that is created again has all custom fields in one change. */
export const partsOf = (field: string, to: unknown): Array<[name: string, value: unknown]> =>
	field === allCustomFields && isObject(to) ? Object.entries(to).map(([key, value]) => [customFieldPrefix + key, value]) : [[field, to]];
