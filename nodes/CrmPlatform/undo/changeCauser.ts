import { actorOf, originOfEvent, tellsOrigin, type CrmEvent } from '../api/crmEvent';
import { originOf, type KeyOrigin } from '../api/http/idempotency';
import type { Execution } from '../model';

export const causerTypes = ['execution', 'workflow', 'instance', 'actor'] as const;
export type CauserType = (typeof causerTypes)[number];

/** Who or what made the changes to undo. */
export class ChangeCauser {
	private readonly type: CauserType;
	private readonly id: string;
	private readonly origin: ReturnType<typeof originOf>;
	/** The execution, according to its first event. */
	private execution?: KeyOrigin;

	/** @param id the id of the execution, workflow, user or key; empty for all workflows of this n8n */
	constructor(type: CauserType, id: string, { identity: { instance } }: Execution) {
		this.type = type;
		this.id = id;
		this.origin = originOf(instance, type === 'workflow' ? id : '', type === 'execution' ? id : '');
	}

	/** The name for messages. */
	get label(): string {
		return this.type === 'instance' ? 'workflows of this n8n' : `${causerNames[this.type]} ${this.id}`;
	}

	/** @throws Error in the user's words if the service does not report who caused the event, or if the id is ambiguous */
	hasCaused(event: CrmEvent): boolean {
		if (this.type === 'actor') return actorOf(event) === this.id;
		if (!tellsOrigin(event)) throw new Error(unknownCauser);
		const origin = originOfEvent(event);
		if (origin?.instance !== this.origin.instance) return false;
		if (this.type === 'instance') return true;
		if (this.type === 'workflow') return origin.workflow === this.origin.workflow;
		if (origin.execution !== this.origin.execution) return false;
		// A new database, one restored from a backup, or a second one with the same encryption key counts from an earlier number again.
		this.execution ??= origin;
		if (isSameExecution(origin, this.execution)) return true;
		throw new Error(sharedNumber(this.id, [this.execution, origin]));
	}
}

/** Returns a function that checks whether an execution has caused an event. */
export function causedByExecution({ identity: { instance, workflow, execution, started } }: Execution): (event: CrmEvent) => boolean {
	const expected = { ...originOf(instance, workflow, execution), started };
	return (event) => {
		const origin = originOfEvent(event);
		return origin?.instance === expected.instance && origin.execution === expected.execution && isSameExecution(origin, expected);
	};
}

/** Whether two origins with the same number are the same execution. */
const isSameExecution = (a: ExecutionOrigin, b: ExecutionOrigin): boolean => a.workflow === b.workflow && a.started === b.started;

type ExecutionOrigin = { workflow: string; started?: number | undefined };

export const causerNames = { execution: 'execution', workflow: 'workflow', actor: 'user or key' };

const sharedNumber = (id: string, executions: ExecutionOrigin[]) =>
	`Several executions have the number ${id}: ${executions.map(described).join(' and ')}. Nothing was written. Choose A Workflow, with Since and Until around the execution.`;
const described = ({ workflow, started }: ExecutionOrigin): string =>
	`one of workflow ${workflow}${started === undefined ? '' : ` that began at ${new Date(started).toISOString()}`}`;
const unknownCauser =
	'The CRM does not report which request caused an event, so the changes made by a workflow cannot be distinguished from others. Nothing was written. Choose A User or API Key.';
