import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { isAnsweredWith } from '../api/find';
import { idText } from '../api/http/json';
import { refersToRecords, withReplacedIds } from '../api/openapi/linkFields';
import type { Field } from '../fields/field';
import { recordsById } from './currentRecords';
import { formerValues, type UndoneChange, type Undoing } from './plan';

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
	 * @param values former values, each with the fields of its kind of record
	 */
	async lookUp(api: Connection, values: Array<{ fields: Field[]; body: IDataObject }>): Promise<void> {
		const wanted = new Map<string, Set<string>>();
		for (const { fields, body } of values) {
			for (const [collection, id] of linksIn(fields, body)) {
				wanted.set(collection, (wanted.get(collection) ?? new Set<string>()).add(id));
			}
		}
		for (const [collection, ids] of wanted) {
			const description = await api.describe(collection);
			// Where they cannot be read, the service says which links it refuses.
			if (!description) continue;
			const reading = recordsById(api, { collection, list: description.list, fields: [] }, [...ids]);
			const found = await reading.catch((error: unknown) => {
				if (isAnsweredWith(error, 403, 404)) return undefined;
				throw error;
			});
			for (const id of found ? ids : []) if (!found!.has(id)) this.dead.add(`${collection}/${id}`);
		}
	}

	/** The deleted records that a value links to, and that have no new id yet. */
	missing(fields: Field[], body: IDataObject): string[] {
		return linksIn(fields, body)
			.map(([collection, id]) => `${collection}/${id}`)
			.filter((link) => this.dead.has(link) && !this.anew.has(link));
	}

	/** The values with links that live. @returns also the names of the fields whose links had to be left out */
	alive(fields: Field[], body: IDataObject): { body: IDataObject; without: string[] } {
		const result = { ...body };
		const without: string[] = [];
		for (const field of fields.filter(refersToRecords)) {
			const [name = ''] = field.path;
			if (field.path.length !== 1 || (result[name] ?? null) === null) continue;
			let isWithout = false;
			const replaced = withReplacedIds(field, result[name], (collection, id) => {
				const link = `/${collection}/${idText(id) ?? ''}`;
				const isDead = this.dead.has(link) && !this.anew.has(link);
				isWithout ||= isDead;
				return isDead ? undefined : (this.anew.get(link) ?? id);
			});
			if (isWithout) without.push(name);
			if (Array.isArray(replaced)) result[name] = replaced.filter((one) => (field.reference === undefined ? (one as IDataObject)?.id : one) !== undefined) as IDataObject[];
			else if (isWithout) delete result[name];
			else result[name] = replaced as IDataObject;
		}
		return { body: result, without };
	}
}

/** The records that values link to, by collection. */
function linksIn(fields: Field[], body: IDataObject): Array<[collection: string, id: string]> {
	const links: Array<[string, string]> = [];
	for (const field of fields.filter(refersToRecords)) {
		const [name = ''] = field.path;
		if (field.path.length !== 1) continue;
		withReplacedIds(field, body[name], (collection, id) => {
			const text = idText(id);
			if (text !== undefined) links.push([`/${collection}`, text]);
			return id;
		});
	}
	return links;
}

/** The undo without links to records that are gone. */
export function withLiveLinks(one: Undoing, links: LiveLinks, fields: Field[]): Undoing {
	const { body, without } = links.alive(fields, formerValues(one));
	const changes = one.changes.flatMap((change): UndoneChange[] => {
		const { field } = change;
		if (change.kept || field.startsWith('custom_fields.')) return [change];
		if (Object.hasOwn(body, field)) return [{ ...change, to: body[field] }];
		return one.action === 'create' ? [] : [{ ...change, kept: true }];
	});
	if (without.length === 0) return { ...one, changes };
	const reason = [one.reason, `${without.join(', ')}: a linked record is gone.`].filter(Boolean).join(' ');
	const { action, ...rest } = { ...one, changes, reason };
	const isLeft = action === 'create' || changes.some(({ kept }) => !kept);
	if (isLeft) return { ...rest, ...(action && { action }) };
	return { ...rest, result: one.result === 'conflict' ? 'conflict' : 'cannot_be_undone' };
}

/** Records to create in an order in which those that others link to come first. */
export function* waves(all: Undoing[], missing: (one: Undoing) => string[]): Generator<Undoing[]> {
	let left = all;
	while (left.length > 0) {
		const names = new Set(left.map(({ history: { collection, id } }) => `${collection}/${id}`));
		const free = left.filter((one) => !missing(one).some((link) => names.has(link)));
		// Records that link to each other in a circle: the first goes without its link.
		const wave = new Set(free.length > 0 ? free : left.slice(0, 1));
		yield [...wave];
		left = left.filter((one) => !wave.has(one));
	}
}
