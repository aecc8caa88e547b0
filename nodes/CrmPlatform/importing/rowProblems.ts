import type { IDataObject } from 'n8n-workflow';

import { customFieldsIfAny } from '../api/customFields';
import { withoutMembers } from '../base/ownMembers';
import { resultOrError } from '../base/results';
import type { Field } from '../fields/field';
import { valueIn } from '../fields/keys';
import { lookUpIds } from '../lookUp/byId';
import { lookUp } from '../lookUp/lookUp';
import type { ItemValues } from '../mapping/itemValues';
import type { NodeRun } from '../model';
import { isBlank } from '../values/blank';
import { matchValue, noMatchValue } from '../writing/matchOn';
import { requireAnyValue } from '../writing/requireWrite';
import type { ImportPlan, RowFailure } from './importPlan';

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
export function problemsOf(plan: ImportPlan, { body, refusedValues }: Pick<ItemValues, 'body' | 'refusedValues'>, required: Field[]): RowProblem[] {
	const { operation, matchOn, leavesOut } = plan;
	const errors = new Map(refusedValues.map(({ field: { name }, error }): [string, RowProblem] => [name, { field: name, message: error.message }]));
	const empty = needsId(plan) && isBlank(body.id) ? [noId] : emptyValues(body, matchOn, required);
	const problems = new Map([
		...(leavesOut ? [] : errors),
		// A value that would be left out is why the row is refused.
		...empty.map((problem): [string, RowProblem] => [problem.field ?? '', errors.get(problem.field ?? '') ?? problem]),
	]);
	if (problems.size > 0 || operation === 'delete') return [...problems.values()];
	const noValues = resultOrError(() => requireAnyValue(operation === 'update' ? withoutMembers(body, 'id') : body));
	if (!(noValues instanceof Error)) return [];
	return errors.size > 0 ? [...errors.values()] : [{ message: noValues.message }];
}

const noId: RowProblem = { message: 'The ID is missing, so the record to change is unknown. Fill in the ID.' };

const needsId = ({ operation }: ImportPlan): boolean => operation === 'update' || operation === 'delete';

/** The value to match on, and the required values, that are empty. */
function emptyValues(values: IDataObject, matchOn: Field | undefined, required: Field[]): RowProblem[] {
	const isUnmatchable = matchOn !== undefined && isBlank(matchValue(matchOn.name, values));
	const empty = required.filter((field) => (valueIn(values, field) ?? null) === null);
	return [
		...(isUnmatchable ? [{ field: matchOn.name, message: noMatchValue(matchOn.name), isEmpty: true as const }] : []),
		...empty.map(({ name, label }) => ({ field: name, message: `${label} is empty, but a new record needs it.`, isEmpty: true as const })),
	];
}

interface ReadyRow {
	row: number;
	item: ItemValues;
	/** Whether an earlier row has its key, and so its record exists by then. */
	isRepeated: boolean;
}

/**
 * Why the CRM would refuse rows of a preview because of the records that it has, or lacks, by the number of the row.
 *
 * @param required the fields that a new record needs
 */
export async function failuresByRecords(run: NodeRun, plan: ImportPlan, rows: ReadyRow[], required: Field[]): Promise<Map<number, RowFailure>> {
	const { matchOn, writtenIds } = plan;
	if (needsId(plan) && !writtenIds) return await missingIds(run, plan, rows);
	if (matchOn === undefined) return new Map();
	const incomplete = rows.filter(({ isRepeated }) => !isRepeated)
		.map(({ row, item }) => ({ row, key: matchValue(matchOn.name, item.body)!, lacks: problemsOf(plan, item, required) }))
		.filter(({ lacks }) => lacks.length > 0);
	const isNew = await newKeys(run, plan, matchOn, incomplete.map(({ key }) => key));
	return new Map(incomplete.flatMap(({ row, key, lacks }) => (isNew.has(key) ? [[row, invalid(lacks)]] : [])));
}

async function missingIds({ api }: NodeRun, { path }: ImportPlan, rows: ReadyRow[]): Promise<Map<number, RowFailure>> {
	const idOf = ({ item }: ReadyRow) => String(item.body.id);
	const idExists = await lookUpIds(api, path, rows.map(idOf));
	const messageOf = (ready: ReadyRow) => `There is no record with the ID “${idOf(ready)}”, or the credential cannot read it.`;
	const missing = rows.filter((ready) => idExists.get(idOf(ready)) === false);
	return new Map(missing.map((ready) => [ready.row, invalid([{ field: 'id', message: messageOf(ready) }])]));
}

/** The keys that certainly no record has: a row with another one may change a record. */
async function newKeys({ api }: NodeRun, { path }: ImportPlan, matchOn: Field, keys: string[]): Promise<Set<string>> {
	const list = keys.length > 0 ? (await api.describe(path))?.list : undefined;
	const resultOf = list && (await lookUp({ api, path, list, filters: list.filters, fields: [] }, matchOn, keys).catch(() => undefined));
	return new Set(keys.filter((key) => resultOf && 'notFound' in resultOf(key)));
}
