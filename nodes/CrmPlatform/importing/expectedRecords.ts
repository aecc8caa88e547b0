import type { IDataObject } from 'n8n-workflow';

import type { Collection } from '../api/http/path';
import { identifyingFields } from '../lookUp/names';
import { externalId } from '../fields/field';
import { pagesOfSource } from '../lookUp/sourceIds';
import type { NodeRun, ExpectedRecord } from '../model';
import { isBlank } from '../values/blank';
import { normalizedName } from '../values/foldedText';
import { keyDigest } from '../base/digest';

const maxRows = 2 ** 40;

/**
 * What the rows of files of one record type should have become, to compare it with the records afterwards. It has digests,
 * since files may have hundreds of thousands.
 */
export class ExpectedRecords {
	/** Of all files, without those that are refused because they repeat a record. */
	rows = 0;
	/** The record of each row. */
	private readonly keys = new Map<number, number>();
	private readonly records = new Set<number>();
	/** The value of each link of a record, under the key of the record plus the place of the link among the fields. */
	private readonly links = new Map<number, number>();
	private readonly fields: string[];

	/** @param fields the names of the links */
	constructor(fields: string[]) {
		this.fields = fields;
	}

	/** Adds the values of a row, or some of them: those of the same row belong to one record. */
	add(file: number, row: number, values: IDataObject): void {
		const place = file * maxRows + row;
		const { external_id: id } = values;
		if (typeof id === 'string') this.keys.set(place, keyDigest(id));
		const key = this.keys.get(place);
		if (key === undefined) return;
		this.records.add(key);
		for (const [i, name] of this.fields.entries()) {
			const value = values[name];
			if (!isBlank(value)) this.links.set(key + i, valueDigest(value));
			else if (typeof id === 'string') this.links.delete(key + i);
		}
	}

	/** Reads the records that came from the other system, and compares them. */
	async compare({ api }: NodeRun, collection: Collection, source: string): Promise<IDataObject | undefined> {
		const list = (await api.describe(collection))?.list;
		const fields = [externalId.name, ...this.fields];
		const pages = list && pagesOfSource({ api, path: collection, list, fields }, source);
		if (!pages) return undefined;
		// Several rows may have one ID, in one file or in several.
		const rows = this.rows - (this.keys.size - this.records.size);
		const counts = { rows, in_crm: 0, missing: 0, extra: 0, different: 0 };
		for await (const { records } of pages) {
			for (const record of records) {
				const key = keyDigest(String(record.external_id));
				if (!this.records.has(key)) counts.extra += 1;
				else {
					counts.in_crm += 1;
					const isOther = (name: string, i: number) => ![undefined, valueDigest(record[name])].includes(this.links.get(key + i));
					if (this.fields.some(isOther)) counts.different += 1;
				}
			}
		}
		return { ...counts, missing: Math.max(0, rows - counts.in_crm) };
	}
}

/** The order of several values does not matter. */
const valueDigest = (value: unknown): number =>
	keyDigest(JSON.stringify(Array.isArray(value) ? [...new Set(value.map(String))].sort() : (value ?? null)));

/** How the rows of files of one record type may be called by rows that link to them: a digest of each name, and of its record. */
export class ExpectedNames {
	private readonly records = new Map<number, number>();

	/** @param matchOn the field by which the row finds its record, or what tells the row from others */
	add(values: IDataObject, matchOn: string): void {
		const record = recordDigest(matchOn, values[matchOn]);
		const fullName = [values.first_name, values.last_name].filter((part) => !isBlank(part)).join(' ');
		const { external_id: id, ...keys } = Object.fromEntries(identifyingFields.map((field) => [field, values[field]]));
		if (!isBlank(id)) this.records.set(keyDigest(String(id)), record);
		for (const name of new Set([fullName, ...Object.values(keys)].flatMap((key) => (isBlank(key) ? [] : nameDigest(String(key)))))) {
			const other = this.records.get(name);
			this.records.set(name, other === undefined || other === record ? record : shared);
		}
	}

	/** The IDs of the other system may differ in case alone. */
	hasId(id: string): boolean {
		return this.records.has(keyDigest(id));
	}

	/** Names agree as in a look-up. */
	named(name: string): ExpectedRecord | undefined {
		const expected = this.records.get(nameDigest(name));
		if (expected === undefined) return undefined;
		return { isShared: expected === shared, is: (record) => identifyingFields.some((field) => recordDigest(field, record[field]) === expected) };
	}
}

const shared = -1;

const nameDigest = (name: string): number => keyDigest(`name ${normalizedName(name)}`);

const recordDigest = (field: string, value: unknown): number => keyDigest(`${field} ${String(value).toLowerCase()}`);
