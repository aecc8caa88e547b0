import { actorOf, originOfEvent, tellsOrigin, type CrmEvent } from '../api/crmEvent';
import type { KeyOrigin } from '../api/http/idempotency';

/** The originators whose changes do not start the workflow. */
export interface IgnoredOrigins {
	/** Workflows of n8n; an origin without `workflow` stands for all workflows of its installation. */
	keys: Array<Pick<KeyOrigin, 'instance'> & { workflow?: string | undefined }>;
	/** Ids of users. */
	users: string[];
}

/** The originators a user can choose to ignore, besides other users. */
export const ownOriginChoices = ['workflow', 'instance'] as const;

/** The origin of writes to ignore, as their idempotency keys state it. */
export function ownOrigin(origin: (typeof ownOriginChoices)[number], workflowOrigin: KeyOrigin): IgnoredOrigins['keys'][number] {
	return origin === 'workflow' ? workflowOrigin : { instance: workflowOrigin.instance };
}

/** Whether an event was caused by an originator that is ignored. */
export function isIgnored(event: CrmEvent, { keys, users }: IgnoredOrigins): boolean {
	const origin = originOfEvent(event);
	const isOwn = ({ instance, workflow = origin?.workflow }: IgnoredOrigins['keys'][number]) =>
		instance === origin?.instance && workflow === origin.workflow;
	if (origin && keys.some(isOwn)) return true;
	const id = actorOf(event);
	return id !== undefined && users.includes(id);
}

/** Who caused an event, as far as this workflow is concerned. */
type MadeBy = 'this_workflow' | 'this_n8n' | 'other';

/**
 * States who caused an event, from a workflow's point of view.
 *
 * @param workflowOrigin the origin of the workflow
 * @returns undefined if the service does not report it
 */
export function madeBy(event: CrmEvent, workflowOrigin: KeyOrigin): MadeBy | undefined {
	if (!tellsOrigin(event)) return undefined;
	const origin = originOfEvent(event);
	if (origin?.instance !== workflowOrigin.instance) return 'other';
	return origin.workflow === workflowOrigin.workflow ? 'this_workflow' : 'this_n8n';
}

export const noOrigin =
	'The CRM does not report which request caused an event, so changes made by workflows cannot be ignored. Under Ignored User Names or IDs, choose the user of the credential that the workflows use.';
