import type { IBinaryKeyData, IDataObject } from 'n8n-workflow';

import type { FileRecords } from '../files/rows';
import { UnreadableFile } from '../files/unreadableFile';
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
	const slices = new RunningSlices(progress);
	const keys = new RowKeys(plan);
	try {
		return await progress.end(await importSlices(execution, plan, file, slices, keys), keys);
	} catch (error) {
		slices.fail(error);
		// Waits for responses to requests in flight, but not for jobs, so that the next attempt finds the started jobs.
		await slices.settled();
		await progress.abandon();
		throw error instanceof UnreadableFile ? new Error(error.message) : error;
	}
}

/** @returns why the file was not read to its end, if it was not */
async function importSlices(
	execution: Execution,
	plan: ImportPlan,
	file: FileRecords,
	slices: RunningSlices,
	keys: RowKeys,
): Promise<string | undefined> {
	const atOnce = plan.operation === 'create' ? jobsAtOnce : 1;
	let problem: string | undefined;
	let count = 0;
	try {
		for await (const rows of plannedSlices(execution, plan, file, keys)) {
			if (slices.hasFailed) break;
			const { failure: stopped, jobs } = slices;
			slices.add(plan.isPreview ? Promise.resolve(rows) : importSlice(execution, plan, rows, { index: count, jobs, stopped }));
			count += 1;
			if (slices.count >= atOnce) await slices.recordNext();
		}
	} catch (error) {
		problem = problemOfFile(error, count);
	}
	while (slices.count > 0) await slices.recordNext();
	return problem;
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

/** The slices whose jobs are running, in the order of the file. */
class RunningSlices {
	/** Rejects when any job fails. */
	readonly failure: Promise<never>;
	private reject: (error: unknown) => void = () => undefined;
	private isFailed = false;
	private readonly running: Array<Promise<PlannedRow[]>> = [];
	private readonly progress: ImportProgress;

	constructor(progress: ImportProgress) {
		this.progress = progress;
		this.failure = new Promise<never>((_, reject) => (this.reject = reject));
		this.failure.catch(() => (this.isFailed = true));
	}

	get hasFailed(): boolean {
		return this.isFailed;
	}

	get count(): number {
		return this.running.length;
	}

	get jobs(): string[] {
		return this.progress.jobs;
	}

	fail(error: unknown): void {
		this.reject(error);
	}

	add(slice: Promise<PlannedRow[]>): void {
		slice.catch(this.reject);
		this.running.push(slice);
	}

	/** Records the outcome of the first slice. It stays in the list until it has ended, so that `settled` waits for it. */
	async recordNext(): Promise<void> {
		const rows = await Promise.race([this.running[0]!, this.failure]);
		void this.running.shift();
		await this.progress.record(rows);
	}

	async settled(): Promise<void> {
		await Promise.allSettled(this.running);
	}
}
