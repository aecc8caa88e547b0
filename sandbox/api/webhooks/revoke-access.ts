import { deleteRecord } from '../../domain/records/write.ts';
import type { Answer } from '../../core/foundation/answer.ts';
import type { Writing } from '../../core/store/writing.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import type { Service } from '../../core/service.ts';

const actor = { type: 'system', id: 'oauth' };

/** Deletes a subscription, with its deliveries and secrets. */
export function deleteWebhook(writing: Writing, id: string, ifMatch?: string): Answer {
	const answer = deleteRecord(writing, id, ifMatch);
	const { deliveries, creationGrants, webhookSecrets } = writing.store.unrestricted;
	deliveries.drop(id);
	webhookSecrets.drop(id);
	creationGrants.drop(id);
	return answer;
}

/**
 * Revokes a grant: its codes, its tokens, and the subscriptions made with them. Its jobs notice at their
 * next line.
 */
export function revokeGrant(service: Service, grantId: string): void {
	const { store } = service;
	store.transaction(() => {
		const begun = store.creationGrants.ofGrant(grantId);
		deleteWebhooks(service, begun.filter((id) => store.table(webhooks.name)!.find(id)));
		store.grants.revoke(grantId);
	});
}

/** Revokes an API key, and the subscriptions made with it. Its jobs notice at their next line. */
export function revokeKey(service: Service, id: string): void {
	const { store } = service;
	store.transaction(() => {
		deleteWebhooks(service, madeBy(service, '$.created_by.id', id));
		store.apiKeys.revoke(id);
	});
}

/** Deletes a client, all grants to it and all its subscriptions. */
export function deleteClient(service: Service, clientId: string): void {
	const { store } = service;
	store.transaction(() => {
		for (const grantId of store.grants.ofClient(clientId)) revokeGrant(service, grantId);
		// Those of users who were deactivated have outlived their grants, paused.
		deleteWebhooks(service, madeBy(service, '$.application_id', clientId));
		store.clients.delete(clientId);
	});
}

function madeBy({ store }: Service, path: string, id: string): string[] {
	const isTheirs = { sql: `document ->> '${path}' = ?`, values: [id] };
	return store.table(webhooks.name)!.findAll([isTheirs], 1_000_000).map((webhook) => webhook.id);
}

function deleteWebhooks(service: Service, ids: string[]): void {
	const writing = { ...service, resource: webhooks, actor, request: null, now: service.now() };
	for (const id of ids) deleteWebhook(writing, id);
}
