import { deleteRecord } from '../../domain/records/write.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import type { Condition } from '../../core/store/records/condition.ts';
import type { Store } from '../../core/store/store.ts';
import { createdVia } from '../../core/store/visibility/visibility.ts';
import type { Service } from '../../core/service.ts';

const actor = { type: 'system', id: 'oauth' };

/**
 * Revokes a grant: its codes, its tokens, and the subscriptions created with it, including those that have outlived an
 * earlier grant of the same user to the same client. Its jobs stop at their next line.
 */
export function revokeGrant(service: Service, grantId: string): void {
	const { store } = service;
	store.transaction(() => {
		const { creationGrants, grants } = store;
		const grant = grants.find(grantId);
		const isOrphan = (id: string) => !grants.find(creationGrants.find(id)?.grantId ?? '');
		const createdWith = creationGrants.ofGrant(grantId).filter((id) => store.table(webhooks.name)!.find(id));
		const createdForUser = grant ? webhookIds(store, createdVia({ id: grant.userId }, grant.clientId, 'document', '$')) : [];
		deleteWebhooks(service, [...new Set([...createdWith, ...createdForUser.filter(isOrphan)])]);
		grants.revoke(grantId);
	});
}

/** Revokes an API key and deletes the subscriptions created with it. Its jobs stop at their next line. */
export function revokeKey(service: Service, id: string): void {
	const { store } = service;
	store.transaction(() => {
		deleteWebhooks(service, webhookIds(store, { sql: "document ->> '$.created_by.id' = ?", values: [id] }));
		store.apiKeys.revoke(id);
	});
}

/** Deletes a client, all grants to it and all its subscriptions. */
export function deleteClient(service: Service, clientId: string): void {
	const { store } = service;
	store.transaction(() => {
		for (const grantId of store.grants.ofClient(clientId)) revokeGrant(service, grantId);
		// The subscriptions of deactivated users are paused and have outlived their grants.
		deleteWebhooks(service, webhookIds(store, { sql: "document ->> '$.application_id' = ?", values: [clientId] }));
		store.clients.delete(clientId);
	});
}

const webhookIds = (store: Store, condition: Condition): string[] =>
	store.table(webhooks.name)!.findAll([condition]).map(({ id }) => id);

function deleteWebhooks(service: Service, ids: string[]): void {
	const context = { ...service, resource: webhooks, actor, request: null, now: service.now() };
	for (const id of ids) deleteRecord(context, id, undefined);
}
