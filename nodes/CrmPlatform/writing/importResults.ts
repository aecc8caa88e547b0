import type { IDataObject } from 'n8n-workflow';

import { problemOfItem } from '../api/http/problem';
import type { Execution } from '../model';
import { readJobResults, statedCount, type StartedJob } from './backgroundJob';
import type { ImportPlan, PlannedRow } from './importPlan';
import type { Refusal } from './importReport';

/**
 * Reads what became of the rows that a job was started with. A row without a result that is
 * understood stays unknown: taken for refused, it would be imported again, and so written twice.
 *
 * @param sent the rows, in the order of the job's lines
 * @param ended the job
 * @throws NodeApiError where the results cannot be read
 */
export async function readImportResults(
	execution: Execution,
	plan: ImportPlan,
	{ path }: StartedJob,
	{ sent, ended }: { sent: PlannedRow[]; ended: IDataObject },
): Promise<void> {
	const results = new Map<number, IDataObject>();
	const contradictory = new Set<number>();
	let count = 0;
	for await (const part of readJobResults(execution, path, sent.length, plan.description.withoutRecords)) {
		count += part.length;
		for (const result of part) {
			const line = lineOf(result);
			if (line === undefined || line >= sent.length) continue;
			const { status, id = (result.data as IDataObject | null | undefined)?.id, error } = result;
			const own = { status, id, error };
			if (results.has(line) && JSON.stringify(results.get(line)) !== JSON.stringify(own)) contradictory.add(line);
			results.set(line, own);
		}
	}
	const withoutResult = restOf(ended, count);
	for (const [line, planned] of sent.entries()) {
		const result = contradictory.has(line) ? {} : results.get(line);
		Object.assign(planned, result ? outcomeOf(plan, result) : { refusal: withoutResult });
	}
}

/** The number of a result's line; undefined where it has none. */
function lineOf({ index }: IDataObject): number | undefined {
	return /^\d{1,9}$/.test(String(index)) ? Number(index) : undefined;
}

function outcomeOf({ operation }: ImportPlan, { status: stated, id, error }: IDataObject): Partial<PlannedRow> {
	const status = /^\d{3}$/.test(String(stated)) ? Number(stated) : 0;
	if (status >= 400) return { refusal: refusalOf(status, error) };
	if (status < 200 || status >= 300 || error) {
		return { refusal: unknown('The result of this row is not understood, so it may have been written.') };
	}
	const created = operation === 'create' || status === 201;
	const action = operation === 'delete' ? 'deleted' : created ? 'created' : 'updated';
	return { done: { action, id: String(id ?? '') } };
}

function refusalOf(status: number, error: unknown): Refusal {
	const { message, code, details } = problemOfItem(status, error);
	const [first] = (Array.isArray(details.errors) ? details.errors : []) as Array<IDataObject | undefined>;
	const field = typeof first?.pointer === 'string' ? first.pointer.replace(/^#?\//, '').replaceAll('/', '.') : undefined;
	return { code: String(first?.code ?? code ?? status), message, ...(field !== undefined && { field }) };
}

/**
 * Why rows have no result. Of a job that ended early, they were not done where it has processed no
 * more lines than there are results.
 */
function restOf(job: IDataObject, results: number): Refusal {
	const { status, error } = job;
	const processed = statedCount(job, 'processed');
	const reason = typeof error === 'string' && error !== '' ? `: ${error}` : '.';
	if (status !== 'completed' && processed !== undefined && processed <= results) {
		return { code: 'not_done', message: `The job ended before this row (${String(status)})${reason}` };
	}
	return unknown(`The service gives no result for this row, so it may have been written. The job is ${String(status)}${reason}`);
}

/** What cannot be told of a row. */
const unknown = (what: string): Refusal => ({
	code: 'unknown',
	message: `${what} Look for the record before you import the row again.`,
	isUnknown: true,
});
