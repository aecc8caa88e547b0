import type { KeyOrigin } from '../api/http/idempotency';
import type { Cause } from '../log/cause';

export const causerTypes = ['execution', 'workflow', 'instance', 'actor'] as const;

/** Who made the changes to undo. */
export interface CauserChoice {
	type: (typeof causerTypes)[number];
	/** Empty for all workflows of this n8n. */
	id: string;
	/** What the keys of its writes name. */
	origin: KeyOrigin;
	/** As messages name it. */
	label: string;
}

export function hasCaused({ type, id, origin: expected }: CauserChoice, { origin, actor }: Cause): boolean {
	if (type === 'actor') return actor === id;
	if (origin?.instance !== expected.instance) return false;
	if (type === 'workflow') return origin.workflow === expected.workflow;
	return type === 'instance' || origin.execution === expected.execution;
}

/** Whether two origins of one n8n and with one number are the same execution. */
const isSameExecution = (a: KeyOrigin, b: KeyOrigin): boolean => a.workflow === b.workflow && a.started === b.started;

/** @param execution its origin, with when it began */
export const isByExecution = (execution: KeyOrigin, { origin }: Cause): boolean =>
	origin?.instance === execution.instance && origin.execution === execution.execution && isSameExecution(origin, execution);

/**
 * A new database, one restored from a backup, or a second one with the same encryption key counts from an earlier number again.
 *
 * @throws Error in the user's words if two origins with the number of an execution are not the same execution
 */
export function refuseSharedNumber({ id }: CauserChoice, first: KeyOrigin, origin: KeyOrigin): void {
	if (isSameExecution(first, origin)) return;
	const executions = [first, origin].map(({ workflow, started }) =>
		`one of workflow ${workflow}${started === undefined ? '' : ` that began at ${new Date(started).toISOString()}`}`);
	throw new Error(`Several executions have the number ${id}: ${executions.join(' and ')}. Nothing was written. Choose A Workflow, with Since and Until around the execution.`);
}
