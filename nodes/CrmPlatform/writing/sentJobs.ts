import type { Execution } from '../model';
import type { ImportPlan } from './importPlan';
import { stateOfRun } from './runState';

/** A job of an import, and the rows that it was sent. */
export interface SentJob {
	/** Places of the rows in their slice of the file, as ranges: `0-16,18-4999`. */
	rows: string;
	/** Undefined if the response to its start is unknown. */
	id?: string;
}

/** The jobs of this run, by operation, path, and slice of an item's file. */
interface ImportState {
	run: number | string;
	jobs?: Record<string, SentJob[]>;
}

/**
 * The jobs that were started for a slice of a file, including those of earlier attempts. Add a job before it is sent. The
 * jobs tell a later attempt which rows were sent, even if it can read more rows, for example because a company exists by
 * now.
 */
export function sentJobsOf(execution: Execution, { item, operation, path }: ImportPlan, slice: number): SentJob[] {
	const state = stateOfRun<ImportState>(execution, 'imports');
	state.jobs ??= {};
	return (state.jobs[`${operation} ${path} ${item}/${slice}`] ??= []);
}
