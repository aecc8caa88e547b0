import type { IDataObject } from 'n8n-workflow';

import { answersByItem, type ItemAnswer } from '../api/batchAnswers';
import type { Reason } from '../api/http/errorWords';
import { problemOfItem } from '../api/http/problem';
import { attemptMayBeDone } from '../api/http/retry';
import { wholeNumber } from '../base/numbers';
import { pointerSteps } from '../base/ownMembers';
import type { NodeRun } from '../model';
import { endReason, readJobResults, type StartedJob } from '../writing/backgroundJob';
import type { ImportPlan, PlannedRow, RowFailure } from './importPlan';

type RowResult = Pick<PlannedRow, 'done' | 'failure'>;

/**
 * Reads the result of each line of a job. A row without a readable result stays unknown: as a refused row it would be
 * imported again, and so written twice.
 *
 * @param count of its lines
 * @param ended the finished job
 * @throws NodeApiError if the results cannot be read
 */
export async function readRowResults(
	run: NodeRun,
	plan: ImportPlan,
	{ path }: StartedJob,
	{ count, ended }: { count: number; ended: IDataObject },
): Promise<RowResult[]> {
	const results: IDataObject[] = [];
	for await (const part of readJobResults(run, path, count, plan.description.withoutRecords)) {
		for (const { data, id, ...result } of part) results.push({ ...result, id: id ?? (data as IDataObject | null | undefined)?.id });
	}
	// Without a result for line 0, the service may count from 1, and each result would belong to another row.
	const startsAtZero = results.some(({ index }) => String(index) === '0');
	const items = Array.from({ length: count }, () => ({}));
	const answers = new Map(startsAtZero ? answersByItem({ results }, items, false) : []);
	const failure = missingResult(ended, answers.size === results.length ? results.length : undefined);
	return items.map((_, item) => {
		const answer = answers.get(item);
		return answer ? resultOf(plan, answer) : { failure };
	});
}

function resultOf(plan: ImportPlan, { status, id, error }: ItemAnswer): RowResult {
	if (attemptMayBeDone({ status, headers: {} })) {
		return { failure: unknownResult(`The CRM responded with ${status} for this row, so it may have been written.`) };
	}
	if (status >= 400) return { failure: refusalOf(plan, status, error) };
	if (status < 200 || status >= 300 || error) {
		return { failure: unknownResult('The result of this row could not be understood, so the row may have been written.') };
	}
	const { operation } = plan;
	const created = operation === 'create' || status === 201;
	const action = operation === 'delete' ? 'deleted' : created ? 'created' : 'updated';
	return { done: { action, id: id ?? '' } };
}

function refusalOf({ fields }: ImportPlan, status: number, error: unknown): RowFailure {
	const { message, code, details } = problemOfItem(status, error);
	const errors = (details.errors ?? []) as Reason[];
	const reasons = errors.map(({ pointer, detail = message }) => {
		if (pointer === undefined) return { message: detail };
		const field = pointerSteps(pointer).join('.');
		const label = fields.find(({ name }) => name === field)?.label ?? field;
		return { field, message: `${label}: ${detail}` };
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
function missingResult(job: IDataObject, results: number | undefined): RowFailure {
	const { status } = job;
	const processed = wholeNumber(job.processed);
	const stated = endReason(job);
	const reason = stated === undefined ? '.' : `: ${stated}`;
	if (status !== 'completed' && processed !== undefined && results !== undefined && processed <= results) {
		return { code: 'not_done', message: `The job ended before this row (${String(status)})${reason}` };
	}
	return unknownResult(`The CRM returned no result for this row, so it may have been written. The job is ${String(status)}${reason}`);
}

/** The result of the row is unknown. */
const unknownResult = (explanation: string): RowFailure => ({
	code: 'unknown',
	message: `${explanation} Look for the record before you import the row again.`,
	isUnknown: true,
});
