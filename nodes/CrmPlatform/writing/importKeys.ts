import type { IDataObject } from 'n8n-workflow';

import { keyDigest } from '../base/digest';
import { fieldNamed, idField, type Field } from '../fields/field';
import { matchKey } from '../fields/keys';
import type { ImportTarget } from './importColumns';
import type { Refusal } from './importReport';
import { matchValue } from './matchOn';

/** How many rows with the key of an earlier one a notice shows. */
const examplesShown = 3;

/** The keys by which the rows of a file find their records, to notice rows that overwrite each other. */
export class RowKeys {
	/** The number of rows with the key of an earlier one. */
	repeated = 0;
	private readonly field: Field | undefined;
	private readonly isRefused: boolean;
	private readonly rows = new Map<number, number>();
	private readonly examples: string[] = [];

	constructor({ operation, fields, matchOn, refusesRepeated }: ImportTarget & { matchOn?: string; refusesRepeated: boolean }) {
		this.isRefused = refusesRepeated;
		if (matchOn !== undefined) this.field = fields.find(({ name }) => name === matchOn) ?? fieldNamed(matchOn);
		else if (operation === 'update' || operation === 'delete') this.field = idField;
	}

	/** Adds a row. @returns why it is refused, if rows with the key of an earlier one are */
	refusalOf(row: number, line: IDataObject): Refusal | undefined {
		const { field, rows, examples } = this;
		const value = field && matchValue(field.name, line);
		const key = field && matchKey(field, value);
		if (!field || key === undefined) return undefined;
		// Numbers take a fraction of the memory of texts.
		const digest = keyDigest(key);
		const earlier = rows.get(digest);
		if (earlier === undefined || !this.isRefused) rows.set(digest, row);
		if (earlier === undefined) return undefined;
		this.repeated += 1;
		if (examples.length < examplesShown) examples.push(`row ${row} and row ${earlier} (“${value}”)`);
		if (!this.isRefused) return undefined;
		return { field: field.name, code: 'repeated_key', message: `${field.label}: “${value}” is the key of row ${earlier}, too, which was imported.` };
	}

	/** What the user should know of rows that overwrite each other. */
	get notice(): string | undefined {
		if (this.repeated === 0 || this.isRefused) return undefined;
		return `${this.repeated} rows have the same ${this.field!.label} as an earlier row: of these, the last one wins. For example ${this.examples.join(', ')}. To refuse them, set Rows of One Record in the options.`;
	}
}
