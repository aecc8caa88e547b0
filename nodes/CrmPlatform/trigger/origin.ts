import type { CrmEvent } from '../api/event';
import { originOf, originOfKey, type KeyOrigin } from '../api/http/idempotency';

/** The originators whose changes start no workflow. */
export interface IgnoredOrigins {
	/** Workflows of n8n; one without `workflow` stands for all workflows of its installation. */
	keys: Array<Pick<KeyOrigin, 'instance'> & { workflow?: string | undefined }>;
	/** Ids of users. */
	users: string[];
}

/** The originators a user can choose to ignore, besides other users. */
export type OwnOrigin = 'workflow' | 'instance';

/**
 * The origin of writes to ignore, as their idempotency keys state it.
 *
 * @param instance id of the n8n installation
 */
export function ownOrigin(origin: OwnOrigin, instance: string, workflow: string): IgnoredOrigins['keys'][number] {
	const own = originOf(instance, workflow);
	return origin === 'workflow' ? own : { instance: own.instance };
}

/** Whether an event was caused by an originator that is ignored. */
export function isIgnored({ request, actor }: CrmEvent, { keys, users }: IgnoredOrigins): boolean {
	const key = (request as { idempotency_key?: unknown } | null | undefined)?.idempotency_key;
	const origin = typeof key === 'string' ? originOfKey(key) : undefined;
	const isOwn = ({ instance, workflow = origin?.workflow }: IgnoredOrigins['keys'][number]) =>
		instance === origin?.instance && workflow === origin.workflow;
	if (origin && keys.some(isOwn)) return true;
	const id = (actor as { id?: unknown } | null | undefined)?.id;
	return typeof id === 'string' && users.includes(id);
}

/** Whether the service reports the request that caused an event; null means no request did. */
export const tellsOrigin = ({ request }: CrmEvent): boolean => request !== undefined;

export const noOrigin =
	'The service does not report which request caused an event, so changes made by workflows cannot be ignored. Under Ignore Changes Made By User Names or IDs, choose the user of the credential that the workflows use.';
