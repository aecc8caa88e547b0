import { deleteRecord } from '../../domain/records/write.ts';
import type { Answer } from '../../core/foundation/answer.ts';
import type { WriteContext } from '../../core/store/write-context.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import type { StoredRecord } from '../../core/schemas/resource.ts';
import type { Service } from '../../core/service.ts';

const actor = { type: 'system', id: 'oauth' };

/** Deletes a subscription, with its deliveries and secrets. */
export function deleteWebhook(context: WriteContext, id: string, ifMatch?: string): Answer {
	const answer = deleteRecord(context, id, ifMatch);
	const { deliveries, creationGrants, webhookSecrets } = context.store.unrestricted;
	deliveries.drop(id);
	webhookSecrets.drop(id);
	creationGrants.drop(id);
	return answer;
}

/**
 * Revokes a grant: its codes, its tokens, and the subscriptions created with it, including those that have outlived an
 * earlier grant of the same user to the same client. Its jobs stop at their next line.
 */
export function revokeGrant(service: Service, grantId: string): void {
	const { store } = service;
	store.transaction(() => {
		const { creationGrants, grants } = store;
		const { clientId, userId } = grants.find(grantId) ?? {};
		const grantWebhookIds = creationGrants.ofGrant(grantId).filter((id) => store.table(webhooks.name)!.find(id));
		const isOrphan = (id: string) => !grants.find(creationGrants.find(id)?.grantId ?? '');
		const webhooksOfUser = clientId === undefined ? [] : createdBy(service, '$.created_by.id', userId!);
		const userWebhooks = webhooksOfUser.filter(({ application_id: client }) => client === clientId);
		deleteWebhooks(service, [...new Set([...grantWebhookIds, ...userWebhooks.map(({ id }) => id).filter(isOrphan)])]);
		store.grants.revoke(grantId);
	});
}

/** Revokes an API key and deletes the subscriptions created with it. Its jobs stop at their next line. */
export function revokeKey(service: Service, id: string): void {
	const { store } = service;
	store.transaction(() => {
		deleteWebhooks(service, idsOf(createdBy(service, '$.created_by.id', id)));
		store.apiKeys.revoke(id);
	});
}

/** Deletes a client, all grants to it and all its subscriptions. */
export function deleteClient(service: Service, clientId: string): void {
	const { store } = service;
	store.transaction(() => {
		for (const grantId of store.grants.ofClient(clientId)) revokeGrant(service, grantId);
		// The subscriptions of deactivated users are paused and have outlived their grants.
		deleteWebhooks(service, idsOf(createdBy(service, '$.application_id', clientId)));
		store.clients.delete(clientId);
	});
}

const idsOf = (records: StoredRecord[]): string[] => records.map(({ id }) => id);

function createdBy({ store }: Service, path: string, id: string): StoredRecord[] {
	const isTheirs = { sql: `document ->> '${path}' = ?`, values: [id] };
	return store.table(webhooks.name)!.findAll([isTheirs], 1_000_000);
}

function deleteWebhooks(service: Service, ids: string[]): void {
	const context = { ...service, resource: webhooks, actor, request: null, now: service.now() };
	for (const id of ids) deleteWebhook(context, id);
}
