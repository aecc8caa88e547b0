import type { IBinaryKeyData, IDataObject } from 'n8n-workflow';

import type { FileRecords } from '../files/rows';
import { UnreadableFile } from '../files/fileRow';
import type { Execution } from '../model';
import { RowKeys } from './importKeys';
import { ImportProgress } from './importProgress';
import { importSlice } from './importSlice';
import { plannedSlices, type ImportPlan, type PlannedRow } from './importPlan';

/** Maximum number of concurrent jobs that create records. Changes keep their order, since the later of two wins. */
const jobsAtOnce = 3;

/**
 * Imports the rows of a file in jobs of a few thousand rows each, a few at a time, or previews them without writing
 * anything.
 *
 * The key of a job contains its place in the file, so that an interrupted run finds the jobs that it started. A file that
 * cannot be read to its end is imported up to that point, and the result says so.
 *
 * @returns counts, and the files `done` and `failed`
 * @throws NodeApiError if a job cannot be started or read; Error in the user's words if nothing of the file can be read
 */
export async function importRows(
	execution: Execution,
	plan: ImportPlan,
	file: FileRecords,
): Promise<{ json: IDataObject; files: IBinaryKeyData }> {
	const progress = new ImportProgress(execution, plan, file);
	const keys = new RowKeys(plan);
	const atOnce = plan.operation === 'create' ? jobsAtOnce : 1;
	/** The slices whose jobs are running, in the order of the file. */
	const running: Array<Promise<PlannedRow[]>> = [];
	let hasFailed = false;
	let fail: (error: unknown) => void = () => undefined;
	const stopped = new Promise<never>((_, reject) => (fail = reject));
	stopped.catch(() => (hasFailed = true));
	const recordNext = async () => {
		// It stays in the list until it has ended, so that a failure of another waits for it.
		const rows = await Promise.race([running[0]!, stopped]);
		void running.shift();
		await progress.record(rows);
	};
	let count = 0;
	let problem: string | undefined;
	try {
		try {
			for await (const rows of plannedSlices(execution, plan, file, keys)) {
				if (hasFailed) break;
				const { jobs } = progress;
				const slice = plan.isPreview ? Promise.resolve(rows) : importSlice(execution, plan, rows, { index: count, jobs, stopped });
				slice.catch(fail);
				running.push(slice);
				count += 1;
				if (running.length >= atOnce) await recordNext();
			}
		} catch (error) {
			problem = problemOfFile(error, count);
		}
		while (running.length > 0) await recordNext();
		return await progress.end(problem, keys);
	} catch (error) {
		fail(error);
		// Waits for responses to requests in flight, but not for jobs, so that the next attempt finds the started jobs.
		await Promise.allSettled(running);
		await progress.abandon();
		throw error instanceof UnreadableFile ? new Error(error.message) : error;
	}
}

/**
 * Why a file was not read to its end.
 *
 * @param count number of slices that were read before
 * @throws the error itself if it does not concern the file, or if nothing was read
 */
function problemOfFile(error: unknown, count: number): string {
	if (error instanceof UnreadableFile && count > 0) return error.message;
	throw error;
}
