import type { IDataObject } from 'n8n-workflow';

import type { Collection } from '../api/http/path';
import { keyDigest } from '../base/digest';
import { externalId } from '../fields/field';
import { identifyingFields } from '../lookUp/names';
import { pagesOfSource } from '../lookUp/sourceIds';
import type { NodeRun, ExpectedRecord } from '../model';
import { isBlank } from '../values/blank';
import { normalizedName } from '../values/foldedText';

/**
 * What the rows of files of one record type should become. It has digests, since files may have hundreds of thousands of
 * rows.
 */
export class ExpectedRecords {
	/** Of all files, without those that are refused because they repeat a record. */
	rows = 0;
	private rowsWithId = 0;
	private readonly ids = new Set<number>();
	/** The values of links, under the ID of their record in either system plus their place among the fields. */
	private readonly links = new Map<number, number>();
	private readonly linkNames: string[];
	/** What rows that link to a record may call it, and the record. */
	private readonly names = new Map<number, number>();

	/** @param linkNames the fields that are links */
	constructor(linkNames: string[]) {
		this.linkNames = linkNames;
	}

	/** Adds the ID that a row has in the other system, if any, and its links. */
	addId(values: IDataObject): void {
		const { external_id: id } = values;
		if (isBlank(id)) return;
		this.rowsWithId += 1;
		this.ids.add(keyDigest(String(id)));
		this.addLinks(id, values);
	}

	/** @param id of the record, in either system. A row without a link leaves that of an earlier row of the record. */
	addLinks(id: unknown, values: IDataObject): void {
		for (const [key, name] of this.linkKeys(id)) {
			const value = values[name];
			if (value === undefined) continue;
			if (isBlank(value)) this.links.delete(key);
			else this.links.set(key, linkDigest(value));
		}
	}

	private linkKeys(id: unknown): Array<[key: number, name: string]> {
		const digest = keyDigest(String(id));
		return this.linkNames.map((name, i) => [digest + i, name]);
	}

	private hasOtherLinks(record: IDataObject): boolean {
		return [record.external_id, record.id].flatMap((id) => this.linkKeys(id))
			.some(([key, name]) => ![undefined, linkDigest(record[name])].includes(this.links.get(key)));
	}

	/** @param matchOn the field by which the row finds its record, or what tells the row from others */
	addNames(values: IDataObject, matchOn: string): void {
		const record = recordDigest(matchOn, values[matchOn]);
		const fullName = [values.first_name, values.last_name].filter((part) => !isBlank(part)).join(' ');
		const keys = identifyingFields.filter((field) => field !== externalId.name).map((field) => values[field]);
		for (const name of new Set([fullName, ...keys].flatMap((key) => (isBlank(key) ? [] : nameDigest(String(key)))))) {
			const other = this.names.get(name);
			this.names.set(name, other === undefined || other === record ? record : shared);
		}
	}

	/** The IDs of the other system may differ in case alone. */
	hasId = (id: string): boolean => this.ids.has(keyDigest(id));

	/** Names agree as in a look-up. */
	named(name: string): ExpectedRecord | undefined {
		const expected = this.names.get(nameDigest(name));
		if (expected === undefined) return undefined;
		return { isShared: expected === shared, is: (record) => identifyingFields.some((field) => recordDigest(field, record[field]) === expected) };
	}

	/** Compares the rows with the records that came from the other system; undefined if these cannot be listed. */
	async compare({ api }: NodeRun, collection: Collection, source: string): Promise<IDataObject | undefined> {
		const list = (await api.describe(collection))?.list;
		const pages = list && pagesOfSource({ api, path: collection, list, fields: [externalId.name, ...this.linkNames] }, source);
		if (!pages) return undefined;
		let [found, extra, different] = [0, 0, 0];
		for await (const { records } of pages) {
			const expected = records.filter((record) => this.hasId(String(record.external_id)));
			found += expected.length;
			extra += records.length - expected.length;
			different += expected.filter((record) => this.hasOtherLinks(record)).length;
		}
		// Several rows may have one ID, in one file or in several.
		const rows = this.rows - (this.rowsWithId - this.ids.size);
		return { rows, in_crm: found, missing: Math.max(0, rows - found), extra, different };
	}
}

const shared = -1;

/** The order of several values does not matter. */
const linkDigest = (value: unknown): number =>
	keyDigest(JSON.stringify(Array.isArray(value) ? [...new Set(value.map(String))].sort() : (value ?? null)));

const nameDigest = (name: string): number => keyDigest(`name ${normalizedName(name)}`);

const recordDigest = (field: string, value: unknown): number => keyDigest(`${field} ${String(value).toLowerCase()}`);
