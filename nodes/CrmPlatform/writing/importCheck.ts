import type { IDataObject } from 'n8n-workflow';

import { externalId, pagesOfSource } from '../lookUp/sourceIds';
import type { Execution } from '../model';
import { isBlank } from '../values/blank';
import { keyDigest } from '../base/digest';

const maxRows = 2 ** 40;
/** More links could not be told apart in one number beside the digest of their values. */
const maxLinks = 20;

/**
 * What the rows of files of one record type should have become, to compare it with the records afterwards. A row takes two
 * numbers, since files may have hundreds of thousands.
 */
export class ExpectedRecords {
	private rows = 0;
	/** The links of each record: which it has, and a digest of their values. */
	private readonly links = new Map<number, number>();
	private readonly keys = new Map<number, number>();
	private readonly fields: string[];

	/** @param fields the names of the links */
	constructor(fields: string[]) {
		this.fields = fields.slice(0, maxLinks);
	}

	/** @param rows of a file, without those that are refused because they repeat a record */
	addFile(rows: number): void {
		this.rows += rows;
	}

	/** Adds the values of a row, or some of them: those of the same row belong to one record. */
	add(file: number, row: number, values: IDataObject): void {
		const place = file * maxRows + row;
		const { external_id: id } = values;
		const links = this.digestOfLinks(values, this.fields);
		const key = this.keys.get(place);
		if (typeof id === 'string') {
			this.keys.set(place, keyDigest(id));
			this.links.set(keyDigest(id), links);
		} else if (key !== undefined) this.links.set(key, joined(this.links.get(key) ?? 0, links));
	}

	/** Reads the records that came from the other system, and compares them. */
	async compared({ api }: Execution, collection: string, source: string): Promise<IDataObject | undefined> {
		const list = (await api.describe(`/${collection}`))?.list;
		const fields = [externalId.name, ...this.fields];
		const pages = list && pagesOfSource({ api, path: `/v1/${collection}`, list, fields }, source);
		if (!pages) return undefined;
		// Several rows may have one ID, in one file or in several.
		const rows = this.rows - (this.keys.size - this.links.size);
		const counts = { rows, in_crm: 0, missing: 0, extra: 0, different: 0 };
		for await (const { records } of pages) {
			for (const record of records) {
				const links = this.links.get(keyDigest(String(record.external_id)));
				if (links === undefined) counts.extra += 1;
				else {
					counts.in_crm += 1;
					const filled = this.fields.filter((_, i) => (Math.floor(links / digests) >>> i) % 2 === 1);
					if (this.digestOfLinks(record, filled) !== links) counts.different += 1;
				}
			}
		}
		return { ...counts, missing: Math.max(0, rows - counts.in_crm) };
	}

	private digestOfLinks(values: IDataObject, fields: string[]): number {
		return fields.reduce((sum, name) => {
			const value = values[name];
			if (isBlank(value)) return sum;
			const digest = keyDigest(`${name} ${JSON.stringify(Array.isArray(value) ? [...new Set(value.map(String))].sort() : value)}`);
			return joined(sum, 2 ** this.fields.indexOf(name) * digests + (digest % digests));
		}, 0);
	}
}

const digests = 2 ** 32;

/** Joins the links of a record: the values of each are in one of the two. */
const joined = (some: number, others: number): number =>
	(Math.floor(some / digests) | Math.floor(others / digests)) * digests + ((some % digests ^ others % digests) >>> 0);
