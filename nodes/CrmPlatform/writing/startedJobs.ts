import type { Execution } from '../model';
import type { ImportPlan } from './importPlan';
import { nodeContext } from './runState';

/** A job of an import, and the rows that were sent with it. */
export interface SentJob {
	/** Places of the rows in their slice of the file, as ranges: `0-16,18-4999`. */
	rows: string;
	/** Its id; undefined if the response to its start is unknown. */
	id?: string;
}

/** The jobs of this run, by what they do and the slice of an item's file. */
interface StartedJobs {
	run: number | string;
	jobs: Record<string, SentJob[]>;
}

const stateName = 'imports';

/**
 * The jobs that were started for a slice of a file, also by an earlier attempt: n8n keeps the node's context
 * for Retry On Fail and for a retry of the execution. Add one before it is sent. The jobs tell a later attempt
 * which rows are written, even if it can read more rows, for example because a company exists by now.
 */
export function startedJobs({ n8n, identity }: Execution, { item, operation, path }: ImportPlan, slice: number): SentJob[] {
	const context = nodeContext(n8n);
	const storedState = context[stateName] as unknown as StartedJobs | undefined;
	const state = storedState?.run === identity.run ? storedState : { run: identity.run, jobs: {} };
	context[stateName] = state;
	return (state.jobs[`${operation} ${path} ${item}/${slice}`] ??= []);
}
