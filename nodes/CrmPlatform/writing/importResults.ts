import type { IDataObject } from 'n8n-workflow';

import { answersByItem, type ItemAnswer } from '../api/batchAnswers';
import { problemOfItem } from '../api/http/problem';
import { attemptMayBeDone } from '../api/http/retry';
import type { Execution } from '../model';
import { endReason, readJobResults, statedCount, type StartedJob } from './backgroundJob';
import type { ImportPlan, PlannedRow } from './importPlan';
import type { Refusal } from './importReport';

/**
 * Reads the outcome of the rows of a job. A row without a readable result stays unknown: as a refused row it would be
 * imported again, and so written twice.
 *
 * @param sentRows the rows, in the order of the job's lines
 * @param ended the finished job
 * @throws NodeApiError if the results cannot be read
 */
export async function readImportResults(
	execution: Execution,
	plan: ImportPlan,
	{ path }: StartedJob,
	{ sentRows, ended }: { sentRows: PlannedRow[]; ended: IDataObject },
): Promise<void> {
	const distinctResults = new Map<string, IDataObject>();
	for await (const part of readJobResults(execution, path, sentRows.length, plan.description.withoutRecords)) {
		for (const { index, status, id, data, error } of part) {
			const result = { index, status, id: id ?? (data as IDataObject | null | undefined)?.id, error };
			// Parts may overlap: a repeated result counts once.
			distinctResults.set(JSON.stringify(result), result);
		}
	}
	const all = [...distinctResults.values()];
	// Without a result for line 0, the service may count from 1, and each result would belong to another row.
	const startsAtZero = all.some(({ index }) => String(index) === '0');
	const results = new Map(startsAtZero ? answersByItem({ results: all }, sentRows.map(() => ({})), false) : []);
	const withoutResult = missingResult(ended, results.size === all.length ? all.length : undefined);
	for (const [line, planned] of sentRows.entries()) {
		const result = results.get(line);
		Object.assign(planned, result ? outcomeOf(plan, result) : { refusal: withoutResult });
	}
}

function outcomeOf(plan: ImportPlan, { status, id, error }: ItemAnswer): Partial<PlannedRow> {
	if (attemptMayBeDone({ status, headers: {} })) {
		return { refusal: unknown(`The CRM responded with ${status} for this row, so it may have been written.`) };
	}
	if (status >= 400) return { refusal: refusalOf(plan, status, error) };
	if (status < 200 || status >= 300 || error) {
		return { refusal: unknown('The result of this row could not be understood, so the row may have been written.') };
	}
	const { operation } = plan;
	const created = operation === 'create' || status === 201;
	const action = operation === 'delete' ? 'deleted' : created ? 'created' : 'updated';
	return { done: { action, id: id ?? '' } };
}

function refusalOf({ fields }: ImportPlan, status: number, error: unknown): Refusal {
	const { message, code, details } = problemOfItem(status, error);
	const errors = (Array.isArray(details.errors) ? details.errors : []) as Array<IDataObject | undefined>;
	const reasons = errors.map((reason) => {
		const field = typeof reason?.pointer === 'string' ? reason.pointer.replace(/^#?\//, '').replaceAll('/', '.') : undefined;
		const label = fields.find(({ name }) => name === field)?.label ?? field;
		const detail = String(reason?.detail ?? reason?.message ?? message);
		return { ...(field !== undefined && { field }), message: label === undefined ? detail : `${label}: ${detail}` };
	});
	const names = [...new Set(reasons.flatMap(({ field }) => field ?? []))];
	return {
		code: String(errors[0]?.code ?? code ?? status),
		message: reasons.length > 1 ? reasons.map((reason) => reason.message).join('\n') : message,
		...(reasons.length > 1 && { reasons }),
		...(names.length > 0 && { field: names.join(', ') }),
	};
}

/**
 * Why rows have no result. If a job ended early, they were not done, provided that it processed no more lines than there
 * are results.
 *
 * @param results number of lines with a result; undefined if some results belong to no line
 */
function missingResult(job: IDataObject, results: number | undefined): Refusal {
	const { status } = job;
	const processed = statedCount(job, 'processed');
	const stated = endReason(job);
	const reason = stated === undefined ? '.' : `: ${stated}`;
	if (status !== 'completed' && processed !== undefined && results !== undefined && processed <= results) {
		return { code: 'not_done', message: `The job ended before this row (${String(status)})${reason}` };
	}
	return unknown(`The CRM returned no result for this row, so it may have been written. The job is ${String(status)}${reason}`);
}

/** The outcome of the row is unknown. */
const unknown = (explanation: string): Refusal => ({
	code: 'unknown',
	message: `${explanation} Look for the record before you import the row again.`,
	isUnknown: true,
});
