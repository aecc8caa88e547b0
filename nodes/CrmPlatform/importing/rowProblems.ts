import type { IDataObject } from 'n8n-workflow';

import { customFieldsIfAny } from '../api/customFields';
import { keyDigest } from '../base/digest';
import { withoutMembers } from '../base/ownMembers';
import { resultOrError } from '../base/results';
import { type Field, idField } from '../fields/field';
import { valueIn, matchKey } from '../fields/keys';
import { lookUpIds, lookUp } from '../lookUp/lookUp';
import type { Body } from '../mapping/readItems';
import { UnclearName } from '../mapping/resolveLinks';
import type { NodeRun } from '../model';
import { isBlank } from '../values/blank';
import { requireAnyValue, matchValue, noMatchValue } from '../writing/requireWrite';
import { InAnotherRow, type ImportPlan, type RowFailure } from './importPlan';

/** How many rows with the key of an earlier one a notice shows. */
const examplesShown = 3;

/** The keys by which rows find their records, to notice rows that overwrite each other; in a preview, also the values that must be unique. */
export class RowKeys {
	/** The number of rows with the key of an earlier one; if such rows are refused, also of those with a unique value of one. */
	repeated = 0;
	/** The field by which rows find their records; undefined if each row creates one. */
	private readonly keyField: Field | undefined;
	private readonly uniques: Field[];
	private readonly refusesRepeated: boolean;
	/** The row that has a value, by the digest of the value: numbers take a fraction of the memory of texts. */
	private readonly rows = new Map<number, number>();
	/** Rows with the key of a later one, which may have freed their unique values. */
	private readonly overwritten = new Set<number>();
	private readonly examples: string[] = [];

	/** @param customFields in a preview */
	constructor({ operation, fields, matchField, isPreview, refusesRepeated }: ImportPlan, customFields: Field[] = []) {
		this.refusesRepeated = refusesRepeated || operation === 'create';
		this.keyField = matchField ?? (operation === 'create' ? undefined : idField);
		this.uniques = isPreview ? [...fields, ...customFields].filter(({ unique, name }) => unique && name !== this.keyField?.name) : [];
	}

	/** Adds a row. @returns whether it has the key of an earlier one, and the refusal if it must not have a value of an earlier one */
	add(row: number, line: IDataObject): { isRepeated: boolean; failure?: RowFailure } {
		const key = this.keyField && this.valueIn(line, this.keyField);
		const isRepeated = key?.earlierRow !== undefined;
		const uniques = this.uniques.flatMap((field) => this.valueIn(line, field) ?? []);
		const taken = uniques.find(({ earlierRow }) => earlierRow !== undefined && earlierRow !== key?.earlierRow && !this.overwritten.has(earlierRow));
		const forbidden = isRepeated && this.refusesRepeated ? key : taken;
		if (key && forbidden !== key) this.rows.set(key.digest, row);
		if (forbidden) {
			// Its other values remain free for later rows.
			if (this.refusesRepeated) this.repeated += 1;
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
		if (this.repeated === 0 || this.refusesRepeated) return undefined;
		return `${this.repeated} rows have the same ${this.keyField!.label} as an earlier row: of these, the last one wins. For example ${this.examples.join(', ')}. To refuse them, set Rows of One Record in the options.`;
	}
}

interface RowProblem {
	field?: string;
	message: string;
	isEmpty?: true;
}

/** The refusal for all problems of a row. */
export function invalid(problems: RowProblem[]): RowFailure {
	const fields = [...new Set(problems.flatMap(({ field }) => field ?? []))];
	return {
		code: problems.every(({ isEmpty }) => isEmpty) ? 'required' : 'invalid_value',
		message: problems.map(({ message }) => message).join('\n'),
		reasons: problems,
		...(fields.length > 0 && { field: fields.join(', ') }),
	};
}

/** The fields that need a value in each new record; of rows that may find one, only in a preview. */
export async function requiredFields({ api }: NodeRun, plan: ImportPlan, hasCustom: boolean): Promise<Field[]> {
	const { operation, fields, path, isPreview } = plan;
	if (operation !== 'create' && !(operation === 'upsert' && isPreview)) return [];
	const custom = hasCustom ? await customFieldsIfAny(api, path, fields) : undefined;
	const ofNew = operation === 'create' ? fields : ((await api.describe(path))?.create?.fields ?? []);
	return [...ofNew, ...(custom?.fields ?? [])].filter((field) => field.required && (field.path.length === 1 || field.customType !== undefined));
}

/** Why a row cannot be sent, if it cannot. @param required the fields that need a value */
export function refusalOfRow(plan: ImportPlan, { body, refusedValues }: Body, required: Field[]): RowFailure | undefined {
	const { operation, matchField, leavesOut } = plan;
	const errors = new Map(refusedValues.map(({ field: { name }, error }): [string, RowProblem] => [name, { field: name, message: error.message }]));
	const later = refusedValues.filter(({ error }) => mayFollow(error)).map(({ field: { name } }) => name);
	const empty = needsId(plan) && isBlank(body.id) ? [noId] : emptyValues(body, matchField, required);
	const problems = new Map([
		...[...errors].filter(([name]) => !leavesOut || later.includes(name)),
		// A value that would be left out is why the row is refused.
		...empty.map((problem): [string, RowProblem] => [problem.field ?? '', errors.get(problem.field ?? '') ?? problem]),
	]);
	if (problems.size > 0) return invalid([...problems.values()]);
	if (operation === 'delete') return undefined;
	const noValues = resultOrError(() => requireAnyValue(operation === 'update' ? withoutMembers(body, 'id') : body));
	if (!(noValues instanceof Error)) return undefined;
	return invalid(errors.size > 0 ? [...errors.values()] : [{ message: noValues.message }]);
}

/** Whether a value names what another row may bring: left out, the link would be lost. */
const mayFollow = (error: Error): boolean => error instanceof UnclearName && error.whyNotAdded instanceof InAnotherRow;

const noId: RowProblem = { message: 'The ID is missing, so the record to change is unknown. Fill in the ID.' };

const needsId = ({ operation }: ImportPlan): boolean => operation === 'update' || operation === 'delete';

function emptyValues(values: IDataObject, matchField: Field | undefined, required: Field[]): RowProblem[] {
	const isUnmatchable = matchField !== undefined && isBlank(matchValue(matchField.name, values));
	const empty = required.filter((field) => (valueIn(values, field) ?? null) === null);
	return [
		...(isUnmatchable ? [{ field: matchField.name, message: noMatchValue(matchField.name), isEmpty: true as const }] : []),
		...empty.map(({ name, label }) => ({ field: name, message: `${label} is empty, but a new record needs it.`, isEmpty: true as const })),
	];
}

interface ReadyRow {
	row: number;
	item: Body;
	/** Whether an earlier row has its key, and so its record exists by then. */
	isRepeated: boolean;
}

/** Why the CRM would refuse rows of a preview for records that it has or lacks, by row number. @param required the fields that a new one needs */
export async function failuresByRecords(run: NodeRun, plan: ImportPlan, rows: ReadyRow[], required: Field[]): Promise<Map<number, RowFailure>> {
	const { matchField, writtenIds } = plan;
	if (needsId(plan) && !writtenIds) return await unknownIds(run, plan, rows);
	if (matchField === undefined) return new Map();
	const incomplete = rows.flatMap(({ row, item, isRepeated }) => {
		const failure = isRepeated ? undefined : refusalOfRow(plan, item, required);
		return failure ? [{ row, key: matchValue(matchField.name, item.body)!, failure }] : [];
	});
	const isNew = await newKeys(run, plan, matchField, incomplete.map(({ key }) => key));
	return new Map(incomplete.flatMap(({ row, key, failure }) => (isNew.has(key) ? [[row, failure]] : [])));
}

async function unknownIds({ api }: NodeRun, { path }: ImportPlan, rows: ReadyRow[]): Promise<Map<number, RowFailure>> {
	const idOf = ({ item }: ReadyRow) => String(item.body.id);
	const idExists = await lookUpIds(api, path, rows.map(idOf));
	const messageOf = (ready: ReadyRow) => `There is no record with the ID “${idOf(ready)}”, or the credential cannot read it.`;
	const unknown = rows.filter((ready) => idExists.get(idOf(ready)) === false);
	return new Map(unknown.map((ready) => [ready.row, invalid([{ field: 'id', message: messageOf(ready) }])]));
}

/** The keys that certainly no record has: a row with another one may change a record. */
async function newKeys({ api }: NodeRun, { path }: ImportPlan, matchField: Field, keys: string[]): Promise<Set<string>> {
	const list = keys.length > 0 ? (await api.describe(path))?.list : undefined;
	const resultOf = list && (await lookUp({ api, path, list, filters: list.filters, fields: [] }, matchField, keys).catch(() => undefined));
	return new Set(keys.filter((key) => resultOf && 'notFound' in resultOf(key)));
}
