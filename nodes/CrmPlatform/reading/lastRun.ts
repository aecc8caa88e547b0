import { createHash } from 'node:crypto';

import type { IExecuteFunctions } from 'n8n-workflow';

import type { Watermark } from '../api/lists/watermark';
import type { Execution, Run } from '../model';
import type { ListQuery } from './query';

/** How far the lists of a node were read, kept in the workflow. */
export interface LastRun {
	/** Where this account's list with these filters goes on; undefined where it was never read. */
	markOf(reading: ListQuery): Watermark | undefined;
	reached(reading: ListQuery, mark: Watermark): void;
	/** The run, after whose last item the marks are kept. */
	keepingAfter(run: Run): Run;
}

/** Filters that are new in every run leave marks nobody comes back to. */
const mostKept = 1000;

/**
 * The marks of a node. They move on when its last item is done and none has failed; with Continue
 * On Fail, those of the items that succeeded. More a node cannot know: n8n stores them after the
 * execution, and does so too if a later node has failed.
 *
 * @throws Error in the user's words where n8n does not say what it keeps
 */
export function lastRunOf({ n8n, api }: Execution): LastRun {
	if (isStoredCopy(n8n)) {
		throw new Error(
			'Changed Since Last Run: n8n has started this execution without what it keeps of the last run, so all records would come again. Where an execution was retried, leave it: the next run of the workflow gives what this one has not. In queue mode, n8n 2.41 does so every time: choose Moment.',
		);
	}
	const data = n8n.getWorkflowStaticData('global');
	// Under the node's id: n8n's own place for a node goes by its name, and is lost with a rename.
	const place = `crmPlatform:${n8n.getNode().id}`;
	const marks = new Map(Object.entries((data[place] ?? {}) as unknown as Record<string, Watermark>));
	const reached = new Map<string, Watermark>();
	const keyOf = ({ path, query }: ListQuery) =>
		createHash('sha256').update(JSON.stringify([api.account, path, query])).digest('base64url');

	if (n8n.getMode() === 'manual') {
		api.notices.add(
			'This run was started by hand. n8n keeps nothing of such runs, so the next run begins where this one did; runs of the active workflow go on from each other.',
		);
	}

	const keep = () => {
		for (const [key, mark] of reached) {
			marks.delete(key);
			marks.set(key, mark);
		}
		const kept = Object.fromEntries([...marks].slice(-mostKept));
		if (reached.size > 0) data[place] = kept;
	};

	return {
		markOf: (reading) => marks.get(keyOf(reading)),

		reached: (reading, mark) => void reached.set(keyOf(reading), mark),

		keepingAfter(run) {
			let left = n8n.getInputData().length;
			let succeeded = 0;
			return async (item) => {
				try {
					const records = await run(item);
					succeeded += 1;
					return records;
				} finally {
					left -= 1;
					const counts = succeeded === n8n.getInputData().length || n8n.continueOnFail();
					if (left === 0 && counts) keep();
				}
			};
		},
	};
}

/**
 * Whether n8n runs the copy of the workflow that it stores with an execution, which has nothing of
 * what is kept in the workflow and is not active: a retry does, and n8n 2.41 on every worker. To
 * write into it would overwrite all that is kept in the workflow, the secrets of triggers included.
 */
function isStoredCopy(n8n: IExecuteFunctions): boolean {
	const isOfActiveWorkflow = ['trigger', 'webhook', 'retry'].includes(n8n.getMode());
	const isEmpty = Object.keys(n8n.getWorkflowStaticData('global')).length === 0;
	return isOfActiveWorkflow && !n8n.getWorkflow().active && isEmpty;
}
