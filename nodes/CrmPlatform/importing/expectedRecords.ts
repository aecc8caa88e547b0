import type { IDataObject } from 'n8n-workflow';

import type { Collection } from '../api/http/path';
import type { Link } from '../api/openapi/linkFields';
import { keyDigest } from '../base/digest';
import { externalId, sourceId } from '../fields/field';
import { identifyingFields, mayBeAddress, parseName } from '../lookUp/names';
import { pagesOfSource } from '../lookUp/sourceIds';
import type { Body } from '../mapping/readItems';
import type { ExpectedRecord, MissingTargets, NodeRun } from '../model';
import { isBlank } from '../values/blank';
import { foldedText, normalizedName } from '../values/foldedText';
import type { ImportPlan } from './importPlan';

/** What the rows of files of one record type should become, as digests: files may have hundreds of thousands of rows. */
export class ExpectedRecords {
	private rowsWithId = 0;
	private readonly ids = new Set<number>();
	/** The values of links, under the ID of their record in either system plus their place among the fields. */
	private readonly links = new Map<number, number>();
	private readonly linkNames: string[];
	/** For a preview: what rows that link to a record may call it, and the record. */
	private readonly names = new Map<number, number>();

	constructor(links: Link[]) {
		this.linkNames = [...new Set(links.flatMap(({ field }) => (field.path.length === 1 ? [field.name] : [])))];
	}

	/** Adds a row that is ready to be written, with the links that are left out: its record should have them. */
	add({ matchField, fileNumbers, isPreview, writtenIds }: ImportPlan, row: number, { body, refusedValues }: Body): void {
		const { external_id: id } = body;
		const values = { ...body, ...Object.fromEntries(refusedValues.map(({ field, value }) => [field.name, value])) };
		if (writtenIds) {
			this.addLinks(body.id, values);
		} else if (!isBlank(id)) {
			this.rowsWithId += 1;
			this.ids.add(keyDigest(String(id)));
			this.addLinks(id, values);
		}
		if (isPreview && !writtenIds) this.addNames(body, matchField?.name ?? `row ${fileNumbers.join('.')}/${row}`);
	}

	/** @param id of the record, in either system. A row without a link leaves that of an earlier row of the record. */
	private addLinks(id: unknown, values: Record<string, unknown>): void {
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

	/** @param matchName the field by which the row finds its record, or what tells the row from others */
	private addNames(values: IDataObject, matchName: string): void {
		const record = recordDigest(matchName, values[matchName]);
		const fullName = [values.first_name, values.last_name].filter((part) => !isBlank(part)).join(' ');
		const keys = identifyingFields.filter((field) => field !== externalId.name).map((field) => values[field]);
		for (const name of new Set([fullName, ...keys].flatMap((key) => (isBlank(key) ? [] : nameDigest(String(key)))))) {
			const other = this.names.get(name);
			this.names.set(name, other === undefined || other === record ? record : shared);
		}
	}

	/** The IDs of the other system may differ in case alone. */
	private hasId = (id: string): boolean => this.ids.has(keyDigest(id));

	/** Whether a row has an ID or name, and which record it becomes. Names agree as in a look-up. */
	find(text: string, source: string): 'id' | ExpectedRecord | undefined {
		const { name } = parseName(text);
		if (this.hasId(name) || this.hasId(sourceId(source, name))) return 'id';
		const expected = this.names.get(nameDigest(name));
		if (expected === undefined) return undefined;
		return { isShared: expected === shared, is: (record) => identifyingFields.some((field) => recordDigest(field, record[field]) === expected) };
	}

	/**
	 * Compares the rows with the records that came from the other system.
	 *
	 * @param rows of all files, without those that are refused because they repeat a record
	 * @returns undefined if these records cannot be listed
	 */
	async compare({ api }: NodeRun, collection: Collection, source: string, rows: number): Promise<IDataObject | undefined> {
		const list = (await api.describe(collection))?.list;
		const pages = list && pagesOfSource({ api, path: collection, list, fields: [externalId.name, ...this.linkNames] }, source);
		if (!pages) return undefined;
		let [found, extra, different] = [0, 0, 0];
		for await (const { records: page } of pages) {
			const expected = page.filter((record) => this.hasId(String(record.external_id)));
			found += expected.length;
			extra += page.length - expected.length;
			different += expected.filter((record) => this.hasOtherLinks(record)).length;
		}
		// Several rows may have one ID, in one file or in several.
		const records = rows - (this.rowsWithId - this.ids.size);
		return { rows: records, in_crm: found, missing: Math.max(0, records - found), extra, different };
	}
}

/** Whether the rows of files will become a record with an ID or name, by its collection. */
export const willExistIn = (all: ReadonlyMap<Collection, ExpectedRecords>, source: string): NonNullable<MissingTargets['willExist']> =>
	(collection, text) => all.get(collection)?.find(text, source);

const shared = -1;

/** The order of several values does not matter. */
const linkDigest = (value: unknown): number =>
	keyDigest(JSON.stringify(Array.isArray(value) ? [...new Set(value.map(String))].sort() : (value ?? null)));

function nameDigest(name: string): number {
	const folded = foldedText(name);
	return keyDigest(`name ${mayBeAddress(folded) ? folded : normalizedName(name)}`);
}

const recordDigest = (field: string, value: unknown): number => keyDigest(`${field} ${String(value).toLowerCase()}`);
