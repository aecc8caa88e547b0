import type { IDataObject } from 'n8n-workflow';

import { keyDigest } from '../base/digest';
import { fieldNamed, idField, type Field } from '../fields/field';
import { matchKey } from '../fields/keys';
import type { ImportTarget } from './importColumns';
import type { Refusal } from './importReport';
import { matchValue } from './matchOn';

/** How many rows with the key of an earlier one a notice shows. */
const examplesShown = 3;

/**
 * The keys by which the rows of a file find their records, to notice rows that overwrite each other; in a preview of new
 * records, their unique values.
 */
export class RowKeys {
	/** The number of rows with the key of an earlier one. */
	repeated = 0;
	private readonly fields: Field[];
	private readonly isRefused: boolean;
	private readonly rows = new Map<number, number>();
	private readonly examples: string[] = [];

	constructor({ operation, fields, matchOn, isPreview, refusesRepeated }: ImportTarget & { matchOn?: string; refusesRepeated: boolean }) {
		this.isRefused = refusesRepeated || operation === 'create';
		if (matchOn !== undefined) this.fields = [fields.find(({ name }) => name === matchOn) ?? fieldNamed(matchOn)];
		else if (operation === 'create') this.fields = isPreview ? fields.filter(({ unique }) => unique) : [];
		else this.fields = [idField];
	}

	/** Whether an earlier row has the key of this one. */
	hasEarlier(line: IDataObject): boolean {
		return this.fields.some((field) => this.rows.has(digestOf(field, line) ?? NaN));
	}

	/** Adds a row. @returns why it is refused, if rows with the key of an earlier one are */
	refusalOf(row: number, line: IDataObject): Refusal | undefined {
		const { fields, rows, examples } = this;
		for (const field of fields) {
			const digest = digestOf(field, line);
			if (digest === undefined) continue;
			const earlier = rows.get(digest);
			if (earlier === undefined || !this.isRefused) rows.set(digest, row);
			if (earlier === undefined) continue;
			const value = matchValue(field.name, line);
			this.repeated += 1;
			if (examples.length < examplesShown) examples.push(`row ${row} and row ${earlier} (“${value}”)`);
			if (this.isRefused) return { field: field.name, code: 'repeated_key', message: `${field.label}: row ${earlier} has “${value}”, too.` };
		}
		return undefined;
	}

	/** What the user should know of rows that overwrite each other. */
	get notice(): string | undefined {
		if (this.repeated === 0 || this.isRefused) return undefined;
		return `${this.repeated} rows have the same ${this.fields[0]!.label} as an earlier row: of these, the last one wins. For example ${this.examples.join(', ')}. To refuse them, set Rows of One Record in the options.`;
	}
}

/** The key of a row: numbers take a fraction of the memory of texts. */
function digestOf(field: Field, line: IDataObject): number | undefined {
	const key = matchKey(field, matchValue(field.name, line));
	return key === undefined ? undefined : keyDigest(`${field.name} ${key}`);
}
