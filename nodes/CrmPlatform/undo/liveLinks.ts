import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { isAnsweredWith } from '../api/fetchRecord';
import { idText, isObject } from '../api/http/json';
import { refersToRecords, withReplacedIds } from '../api/openapi/linkFields';
import { notReadable } from '../api/http/statuses';
import type { Field } from '../fields/field';
import { recordsById } from './currentRecords';
import type { UndoneChange, Undoing } from './undoing';

/** The fields of a kind of record that refer to others, by name. */
export type LinkFields = ReadonlyMap<string, Field>;

export const linkFieldsIn = (fields: Field[]): LinkFields => new Map(fields.filter(refersToRecords).map((field) => [field.name, field]));

/** The records that former values link to: which of them live, and which have another id now. */
export class LiveLinks {
	private readonly dead = new Set<string>();
	private readonly anew = new Map<string, string>();

	/** @param newId of the record that was created in place of a deleted one */
	replace(collection: string, id: string, newId: string): void {
		this.anew.set(`${collection}/${id}`, newId);
	}

	/**
	 * Looks up which of the linked records live.
	 *
	 * @param all each undo with the fields of its kind of record that refer to others
	 */
	async lookUp(api: Connection, all: Array<{ fields: LinkFields; undo: Undoing }>): Promise<void> {
		const idsByCollection = new Map<string, Set<string>>();
		for (const { fields, undo } of all) {
			for (const [collection, id] of linksIn(fields, undo)) {
				idsByCollection.set(collection, (idsByCollection.get(collection) ?? new Set<string>()).add(id));
			}
		}
		for (const [collection, ids] of idsByCollection) {
			const description = await api.describe(collection);
			// Where they cannot be read, the service says which links it refuses.
			if (!description) continue;
			const reading = recordsById(api, { collection, list: description.list, fields: [] }, [...ids]);
			const found = await reading.catch((error: unknown) => {
				if (isAnsweredWith(error, ...notReadable)) return undefined;
				throw error;
			});
			for (const id of found ? ids : []) if (!found!.has(id)) this.dead.add(`${collection}/${id}`);
		}
	}

	/** The deleted records that an undo would link to, and that have no new id yet. */
	missing(fields: LinkFields, undo: Undoing): string[] {
		return linksIn(fields, undo)
			.map(([collection, id]) => `${collection}/${id}`)
			.filter((link) => this.isDead(link));
	}

	/** The value with links that live; without a value where none is left. @returns also whether a link had to be left out */
	alive(field: Field, value: unknown): { value?: unknown; isWithout: boolean } {
		let isWithout = false;
		const replaced = withReplacedIds(field, value, (collection, id) => {
			const link = `/${collection}/${idText(id) ?? ''}`;
			const isDead = this.isDead(link);
			isWithout ||= isDead;
			return isDead ? undefined : (this.anew.get(link) ?? id);
		});
		const idOf = (entry: unknown) => (field.reference === undefined ? (entry as IDataObject)?.id : entry);
		const living = Array.isArray(replaced) ? replaced.filter((entry) => idOf(entry) !== undefined) : [];
		if (Array.isArray(replaced) && (living.length > 0 || !isWithout)) return { value: living, isWithout };
		return isWithout ? { isWithout } : { value: replaced, isWithout };
	}

	private isDead(link: string): boolean {
		return this.dead.has(link) && !this.anew.has(link);
	}
}

/** The records that an undo would link to, by collection. */
function linksIn(fields: LinkFields, { changes }: Undoing): Array<[collection: string, id: string]> {
	const links: Array<[string, string]> = [];
	for (const { field: changedField, to, kept } of changes) {
		for (const [name, value] of kept ? [] : partsOf(changedField, to)) {
			const field = fields.get(name);
			if (!field) continue;
			withReplacedIds(field, value, (collection, id) => {
				const text = idText(id);
				if (text !== undefined) links.push([`/${collection}`, text]);
				return id;
			});
		}
	}
	return links;
}

/** The values of a change by the names of their fields: a record that is created again has its custom fields in one. */
const partsOf = (field: string, to: unknown): Array<[name: string, value: unknown]> =>
	field === custom && isObject(to) ? Object.entries(to).map(([key, value]) => [`${custom}.${key}`, value]) : [[field, to]];

/**
 * The undo without links to records that are gone, and without values of custom fields that can no longer be written.
 *
 * @param isWritable of a custom field, by its name
 */
export function withLiveLinks(undo: Undoing, links: LiveLinks, fields: LinkFields, isWritable: (name: string) => boolean): Undoing {
	const without: string[] = [];
	const unwritable: string[] = [];
	let isRequired = false;
	const left = (name: string, value: unknown): unknown => {
		if (name.startsWith(`${custom}.`) && !isWritable(name)) return void unwritable.push(name);
		const field = fields.get(name);
		if (!field || (value ?? null) === null) return value;
		const alive = links.alive(field, value);
		if (alive.isWithout) without.push(name);
		isRequired ||= undo.action === 'create' && field.required && alive.value === undefined;
		return alive.value;
	};
	const changes = undo.changes.flatMap((change): UndoneChange[] => {
		if (change.kept) return [change];
		const parts = partsOf(change.field, change.to).map(([name, value]): [string, unknown] => [name, left(name, value)]);
		const living = parts.filter(([, value]) => value !== undefined);
		if (parts.length > 0 && living.length === 0) return undo.action === 'create' ? [] : [{ ...change, kept: true }];
		const isWhole = change.field === custom && isObject(change.to);
		return [{ ...change, to: isWhole ? Object.fromEntries(living.map(([name, value]) => [name.slice(custom.length + 1), value])) : living[0]?.[1] }];
	});
	if (without.length + unwritable.length === 0) return { ...undo, changes };
	const reason = [
		undo.reason,
		without.length > 0 && `${without.join(', ')}: a linked record no longer exists, or is not visible to the credential.`,
		isRequired && required,
		unwritable.length > 0 && `${unwritable.join(', ')}: the custom field was deleted since, or is read-only.`,
	].filter(Boolean).join(' ');
	const result = unwritable.length > 0 && undo.result === 'undone' ? 'cannot_be_undone' : undo.result;
	const { action, ...rest } = { ...undo, changes, reason, result };
	if (isRequired) return { ...rest, changes: changes.map((change) => ({ ...change, kept: true })), result: 'cannot_be_undone' };
	const isLeft = action === 'create' || changes.some(({ kept }) => !kept);
	if (isLeft) return { ...rest, ...(action && { action }) };
	return { ...rest, result: undo.result === 'conflict' ? 'conflict' : 'cannot_be_undone' };
}

const custom = 'custom_fields';
const required = 'The service requires this link, so the record was not created again.';

/** Records to create in an order in which those that others link to come first. */
export function* waves(all: Undoing[], missing: (undo: Undoing) => string[]): Generator<Undoing[]> {
	let left = all;
	while (left.length > 0) {
		const names = new Set(left.map(({ history: { collection, id } }) => `${collection}/${id}`));
		const free = left.filter((undo) => !missing(undo).some((link) => names.has(link)));
		// Records that link to each other in a circle: the first goes without its link.
		const wave = new Set(free.length > 0 ? free : left.slice(0, 1));
		yield [...wave];
		left = left.filter((undo) => !wave.has(undo));
	}
}
