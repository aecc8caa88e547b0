import type { IDataObject } from 'n8n-workflow';

import { keyDigest } from '../base/digest';
import { idField, type Field } from '../fields/field';
import { matchKey } from '../fields/keys';
import { matchValue } from '../writing/matchOn';
import type { ImportPlan, RowFailure } from './importPlan';

/** How many rows with the key of an earlier one a notice shows. */
const examplesShown = 3;

/**
 * The keys by which the rows of a file find their records, to notice rows that overwrite each other; in a preview, also
 * their unique values, which the CRM refuses for a second record.
 */
export class RowKeys {
	/** The number of rows with the key of an earlier one; if such rows are refused, also of those with a unique value of one. */
	repeated = 0;
	/** The field by which rows find their records; undefined if each row creates one. */
	private readonly key: Field | undefined;
	private readonly uniques: Field[];
	private readonly isRefused: boolean;
	/** The row that has a value, by the digest of the value: numbers take a fraction of the memory of texts. */
	private readonly rows = new Map<number, number>();
	/** Rows with the key of a later one, which may have freed their unique values. */
	private readonly overwritten = new Set<number>();
	private readonly examples: string[] = [];

	/** @param customFields in a preview */
	constructor({ operation, fields, matchOn, isPreview, refusesRepeated }: ImportPlan, customFields: Field[] = []) {
		this.isRefused = refusesRepeated || operation === 'create';
		this.key = matchOn ?? (operation === 'create' ? undefined : idField);
		this.uniques = isPreview ? [...fields, ...customFields].filter(({ unique, name }) => unique && name !== this.key?.name) : [];
	}

	/** Adds a row. @returns whether it has the key of an earlier one, and the refusal if it must not have a value of an earlier one */
	add(row: number, line: IDataObject): { isRepeated: boolean; failure?: RowFailure } {
		const key = this.key && this.valueIn(line, this.key);
		const isRepeated = key?.earlierRow !== undefined;
		const uniques = this.uniques.flatMap((field) => this.valueIn(line, field) ?? []);
		const taken = uniques.find(({ earlierRow }) => earlierRow !== undefined && earlierRow !== key?.earlierRow && !this.overwritten.has(earlierRow));
		const forbidden = isRepeated && this.isRefused ? key : taken;
		if (key && forbidden !== key) this.rows.set(key.digest, row);
		if (forbidden) {
			// Its other values remain free for later rows.
			if (this.isRefused) this.repeated += 1;
			const { field, value, earlierRow } = forbidden;
			return { isRepeated, failure: { field: field.name, code: 'repeated_key', message: `${field.label}: row ${earlierRow} has “${value}”, too.` } };
		}
		for (const { digest } of uniques) this.rows.set(digest, row);
		if (isRepeated) {
			this.repeated += 1;
			this.overwritten.add(key.earlierRow!);
			if (this.examples.length < examplesShown) this.examples.push(`row ${row} and row ${key.earlierRow} (“${key.value}”)`);
		}
		return { isRepeated };
	}

	/** The value of a field in a row, and the earlier row that has it. */
	private valueIn(line: IDataObject, field: Field) {
		const value = matchValue(field.name, line);
		const text = matchKey(field, value);
		if (text === undefined) return undefined;
		const digest = keyDigest(`${field.name} ${text}`);
		return { field, value, digest, earlierRow: this.rows.get(digest) };
	}

	/** What the user should know of rows that overwrite each other. */
	get notice(): string | undefined {
		if (this.repeated === 0 || this.isRefused) return undefined;
		return `${this.repeated} rows have the same ${this.key!.label} as an earlier row: of these, the last one wins. For example ${this.examples.join(', ')}. To refuse them, set Rows of One Record in the options.`;
	}
}
