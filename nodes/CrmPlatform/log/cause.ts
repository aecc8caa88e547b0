import { originOfKey, subjectHash, type KeyOrigin } from '../api/http/idempotency';
import { idText } from '../base/json';
import type { CrmEvent } from './crmEvent';

export interface Cause {
	/** The workflow and the execution; absent if something else caused it, or if that is unknown. */
	origin?: NonNullable<ReturnType<typeof originOfKey>>;
	/** The id of the user or API key, if the service reports it. */
	actor?: string;
	/** Whether the service reports the request that caused the event; null means no request did. */
	isRequestKnown: boolean;
}

export function causeOf({ request, actor }: Record<string, unknown>): Cause {
	const key = (request as { idempotency_key?: unknown } | null | undefined)?.idempotency_key;
	const origin = typeof key === 'string' ? originOfKey(key) : undefined;
	const id = idText((actor as { id?: unknown } | null | undefined)?.id);
	return { isRequestKnown: request === null || key !== undefined, ...(origin && { origin }), ...(id !== undefined && { actor: id }) };
}

/** The originators whose changes do not start the workflow. */
export interface IgnoredOrigins {
	/** Workflows of n8n; an origin without `workflow` stands for all workflows of its installation, or for their undos only. */
	origins: Array<Pick<KeyOrigin, 'instance'> & { workflow?: string | undefined; isUndo?: boolean | undefined }>;
	users: string[];
}

/** The originators a user can choose to ignore, besides other users. */
export const ownOriginChoices = ['workflow', 'instance', 'undo'] as const;

/** The origin of writes to ignore, as their idempotency keys state it. */
export function ownOrigin(origin: (typeof ownOriginChoices)[number], workflowOrigin: KeyOrigin): IgnoredOrigins['origins'][number] {
	return origin === 'workflow' ? workflowOrigin : { instance: workflowOrigin.instance, ...(origin === 'undo' && { isUndo: true }) };
}

export function isIgnored(event: CrmEvent, { origins, users }: IgnoredOrigins): boolean {
	const { origin, actor } = causeOf(event);
	const isOrigin = ({ instance, workflow = origin?.workflow, isUndo = false }: IgnoredOrigins['origins'][number]) =>
		instance === origin?.instance && workflow === origin.workflow && (!isUndo || origin.purpose === 'undo');
	if (origin && origins.some(isOrigin)) return true;
	return actor !== undefined && users.includes(actor);
}

/**
 * States who caused an event, from a workflow's point of view.
 *
 * @param workflowOrigin the origin of the workflow
 * @returns undefined if the service does not report it
 */
export function madeBy(event: CrmEvent, workflowOrigin: KeyOrigin): 'this_workflow' | 'this_n8n' | 'other' | undefined {
	const { isRequestKnown, origin } = causeOf(event);
	if (!isRequestKnown) return undefined;
	if (origin?.instance !== workflowOrigin.instance) return 'other';
	return origin.workflow === workflowOrigin.workflow ? 'this_workflow' : 'this_n8n';
}

export const noOrigin =
	'The CRM does not report which request caused an event, so changes made by workflows cannot be ignored. Under Ignored User Names or IDs, choose the user of the credential that the workflows use.';

export const causerNames = { execution: 'execution', workflow: 'workflow', actor: 'user or key' };

/**
 * Finds the records that undos created in place of deleted ones. The log is read from its newest event on.
 *
 * @param created the types of events that report creations of a record type; `deleted`, its deletions
 * @returns to be called with each event: the id of the new record, if the event is a deletion that was undone
 */
export function undoneDeletions(created: string[], deleted: string[]): (event: CrmEvent) => string | undefined {
	/** The new records, by the hash of the deletion that their creation undoes. */
	const newIds = new Map<string, string>();
	/** The records that undos have deleted: their creations, by earlier undos, were undone. */
	const removed = new Set<string>();
	return (event) => {
		const id = String(event.data.object.id);
		const { origin } = causeOf(event);
		const isUndo = origin?.purpose === 'undo';
		if (isUndo && created.includes(event.type) && !removed.has(id)) newIds.set(origin.hash, id);
		if (!deleted.includes(event.type)) return undefined;
		const newId = newIds.get(subjectHash(event.id));
		if (isUndo && newId === undefined) removed.add(id);
		return newId;
	};
}
