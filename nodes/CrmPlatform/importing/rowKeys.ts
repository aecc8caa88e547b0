import type { IDataObject } from 'n8n-workflow';

import { keyDigest } from '../base/digest';
import { idField, type Field } from '../fields/field';
import { matchKey } from '../fields/keys';
import { fieldToMatchOn, matchValue } from '../writing/matchOn';
import type { ImportPlan, Refusal } from './importPlan';

/** How many rows with the key of an earlier one a notice shows. */
const examplesShown = 3;

/**
 * The keys by which the rows of a file find their records, to notice rows that overwrite each other; in a preview, also
 * their unique values, which the CRM refuses for a second record.
 */
export class RowKeys {
	/** The number of rows with the key of an earlier one; if such rows are refused, also of those with a unique value of one. */
	repeated = 0;
	private readonly key: Field | undefined;
	private readonly fields: Field[];
	private readonly isRefused: boolean;
	private readonly rows = new Map<number, number>();
	/** Rows with the key of a later one, which may have freed their unique values. */
	private readonly overwritten = new Set<number>();
	private readonly examples: string[] = [];

	constructor({ operation, fields, matchOn, isPreview, refusesRepeated }: ImportPlan) {
		this.isRefused = refusesRepeated || operation === 'create';
		if (matchOn !== undefined) this.key = fieldToMatchOn(fields, matchOn);
		else if (operation !== 'create') this.key = idField;
		const uniques = isPreview ? fields.filter(({ unique, name }) => unique && name !== this.key?.name) : [];
		this.fields = this.key ? [this.key, ...uniques] : uniques;
	}

	/** Adds a row. @returns whether it has the key of an earlier one, and the refusal if it must not have a value of an earlier one */
	add(row: number, line: IDataObject): { isRepeated: boolean; refusal?: Refusal } {
		const { rows, overwritten, examples, isRefused, key } = this;
		const values = this.fields.flatMap((field) => {
			const value = matchValue(field.name, line);
			const text = matchKey(field, value);
			if (text === undefined) return [];
			// Numbers take a fraction of the memory of texts.
			const digest = keyDigest(`${field.name} ${text}`);
			return [{ field, value, digest, earlier: rows.get(digest) }];
		});
		const ofRecord = values.find(({ field }) => field === key);
		const isRepeated = ofRecord?.earlier !== undefined;
		const refused = values.find(({ field, earlier }) =>
			earlier !== undefined && (field === key ? isRefused : earlier !== ofRecord?.earlier && !overwritten.has(earlier)));
		if (refused) {
			if (isRefused) this.repeated += 1;
			if (ofRecord && refused !== ofRecord) rows.set(ofRecord.digest, row);
			// A row that is refused takes its other values from no later row.
			const { field, value, earlier } = refused;
			return { isRepeated, refusal: { field: field.name, code: 'repeated_key', message: `${field.label}: row ${earlier} has “${value}”, too.` } };
		}
		for (const { digest } of values) rows.set(digest, row);
		if (!isRepeated) return { isRepeated };
		const { value, earlier } = ofRecord;
		this.repeated += 1;
		overwritten.add(earlier!);
		if (examples.length < examplesShown) examples.push(`row ${row} and row ${earlier} (“${value}”)`);
		return { isRepeated };
	}

	/** What the user should know of rows that overwrite each other. */
	get notice(): string | undefined {
		if (this.repeated === 0 || this.isRefused) return undefined;
		return `${this.repeated} rows have the same ${this.key!.label} as an earlier row: of these, the last one wins. For example ${this.examples.join(', ')}. To refuse them, set Rows of One Record in the options.`;
	}
}
