import { deleteRecord } from '../records/write.ts';
import type { Answer } from '../foundation/answer.ts';
import type { Writing } from '../store/writing.ts';
import { webhooks } from '../schemas/webhooks.ts';
import type { Service } from '../http/service.ts';

const actor = { type: 'system', id: 'oauth' };

/** Deletes a subscription, with its deliveries and secrets. */
export function deleteWebhook(writing: Writing, id: string, ifMatch?: string): Answer {
	const answer = deleteRecord(writing, id, ifMatch);
	const { deliveries, webhookGrants, webhookSecrets } = writing.store.whole;
	deliveries.drop(id);
	webhookSecrets.drop(id);
	webhookGrants.drop(id);
	return answer;
}

/** Revokes a grant: its codes, its tokens, and the subscriptions made with them. */
export function revokeGrant(service: Service, grantId: string): void {
	const { store, now } = service;
	store.transaction(() => {
		const writing = { ...service, resource: webhooks, actor, request: null, now: now() };
		for (const id of store.webhookGrants.ofGrant(grantId)) deleteWebhook(writing, id);
		store.grants.revoke(grantId);
	});
}

/** Deletes a client and all grants to it. */
export function deleteClient(service: Service, clientId: string): void {
	const { store } = service;
	store.transaction(() => {
		for (const grantId of store.grants.ofClient(clientId)) revokeGrant(service, grantId);
		store.clients.delete(clientId);
	});
}
