import { createHash } from 'node:crypto';

import type { CrmEvent } from '../api/event';

/** Whose changes start no workflow. */
export interface IgnoredOrigins {
	/** How the idempotency keys of this n8n, or of this workflow, begin. */
	keys: string[];
	/** Ids of users. */
	users: string[];
}

/** Whose changes a user can choose to ignore, beside other users. */
export type OwnOrigin = 'workflow' | 'instance';

/**
 * How the idempotency keys of this node's writes begin (`n8n/<installation>/<workflow>/`): hexadecimal
 * digits of the installation's id, and the workflow's id or a hash of it.
 */
export function keyPrefix(origin: OwnOrigin, instance: string, workflow: string): string {
	const hash = (text: string, length: number) => createHash('sha256').update(text).digest('hex').slice(0, length);
	const prefix = `n8n/${hash(instance, 8)}/`;
	if (origin === 'instance') return prefix;
	return `${prefix}${/^[\w-]{0,64}$/.test(workflow) ? workflow : hash(workflow, 16)}/`;
}

/** Whether an event was caused by somebody whose changes are ignored. */
export function isIgnored({ request, actor }: CrmEvent, { keys, users }: IgnoredOrigins): boolean {
	const key = (request as { idempotency_key?: unknown } | null | undefined)?.idempotency_key;
	if (typeof key === 'string' && keys.some((prefix) => key.startsWith(prefix))) return true;
	const id = (actor as { id?: unknown } | null | undefined)?.id;
	return typeof id === 'string' && users.includes(id);
}

/** Whether the service says which request caused an event; null means that none did. */
export const tellsOrigin = ({ request }: CrmEvent): boolean => request !== undefined;

export const noOrigin =
	'The service does not say which request caused an event, so changes made by workflows cannot be ignored. Choose under Ignore Changes Made By User Names or IDs the user whose credential the workflows use.';
