import type { IDataObject } from 'n8n-workflow';

import { keyDigest } from '../base/digest';
import { fieldNamed, idField, type Field } from '../fields/field';
import { matchKey } from '../fields/keys';
import { matchValue } from '../writing/matchOn';
import type { ImportPlan, Refusal } from './importPlan';

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

	constructor({ operation, fields, matchOn, isPreview, refusesRepeated }: ImportPlan) {
		this.isRefused = refusesRepeated || operation === 'create';
		if (matchOn !== undefined) this.fields = [fields.find(({ name }) => name === matchOn) ?? fieldNamed(matchOn)];
		else if (operation === 'create') this.fields = isPreview ? fields.filter(({ unique }) => unique) : [];
		else this.fields = [idField];
	}

	/** Adds a row. @returns whether it has the key of an earlier one, and why it is refused if such rows are */
	add(row: number, line: IDataObject): { isRepeated: boolean; refusal?: Refusal } {
		const { rows, examples, isRefused } = this;
		const keys = this.fields.flatMap((field) => {
			const value = matchValue(field.name, line);
			const key = matchKey(field, value);
			// Numbers take a fraction of the memory of texts.
			return key === undefined ? [] : [{ field, value, digest: keyDigest(`${field.name} ${key}`) }];
		});
		const repeated = keys.find(({ digest }) => rows.has(digest));
		const earlier = repeated && rows.get(repeated.digest);
		// A row that is refused takes its other values from no later row.
		if (!repeated || !isRefused) for (const { digest } of keys) rows.set(digest, row);
		if (!repeated) return { isRepeated: false };
		const { field, value } = repeated;
		this.repeated += 1;
		if (examples.length < examplesShown) examples.push(`row ${row} and row ${earlier} (“${value}”)`);
		const message = `${field.label}: row ${earlier} has “${value}”, too.`;
		return { isRepeated: true, ...(isRefused && { refusal: { field: field.name, code: 'repeated_key', message } }) };
	}

	/** What the user should know of rows that overwrite each other. */
	get notice(): string | undefined {
		if (this.repeated === 0 || this.isRefused) return undefined;
		return `${this.repeated} rows have the same ${this.fields[0]!.label} as an earlier row: of these, the last one wins. For example ${this.examples.join(', ')}. To refuse them, set Rows of One Record in the options.`;
	}
}
