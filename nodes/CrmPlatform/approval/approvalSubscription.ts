import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { isAnsweredWith, undefinedIfGone } from '../api/fetchRecord';
import { freshKey, idempotencyKey } from '../api/http/idempotency';
import { path } from '../api/http/path';
import { readPages } from '../api/lists/pages';
import type { WriteDescription } from '../api/openapi/writing';
import { refusedSubscription } from '../api/http/statuses';
import type { Execution } from '../model';
import { completedEvent } from './approvalRequest';

const webhooks = '/v1/webhooks';

/** Begins the description of the subscriptions, which ends with the time they are needed until. */
const ownPrefix = 'n8n approval';

/** @returns the id of the subscription; undefined if the service refuses to call this n8n */
export async function subscribeToAnswer(execution: Execution, url: string, until: Date): Promise<string | undefined> {
	const { n8n, api } = execution;
	const create = (await api.describe('/webhooks'))?.create;
	if (!create) return undefined;
	const { types } = await api.describeEvents();
	const isKnown = types.length === 0 || types.some(({ type }) => type === completedEvent);
	const body = {
		url,
		events: [isKnown ? completedEvent : 'task.updated', 'task.deleted'],
		description: `${ownPrefix}: ${`${n8n.getWorkflow().name ?? ''} / ${n8n.getNode().name}`.slice(0, 150)}, until ${until.toISOString()}`,
	};
	const { idempotencyHeader: header, idempotencyKey: format } = create;
	// Under the key of an earlier attempt, the service would answer with a subscription that has ended.
	const key = header === undefined ? {} : { idempotency: { header, key: freshKey(format) } };
	const answer = await api.send({ method: 'POST', path: webhooks, body, ...key }).catch((error: unknown) => {
		if (isAnsweredWith(error, ...refusedSubscription)) return undefined;
		throw error;
	});
	if (!answer) api.notices.add('The CRM cannot call this n8n, or the credential has no permission for webhooks. The approver has to open the link in the task after completing or deleting it.');
	const { id } = (answer?.body ?? {}) as IDataObject;
	return id === undefined ? undefined : String(id);
}

/**
 * Ends the subscriptions of expired requests, since n8n does not tell a node that its wait has expired, and those of
 * earlier attempts.
 */
export async function endOldSubscriptions(execution: Execution, ownUrl: string, now: number): Promise<void> {
	const { api } = execution;
	const list = (await api.describe('/webhooks'))?.list;
	if (!list) return;
	const reading = async () => {
		for await (const { records } of readPages(api.send, { path: webhooks, list, query: {}, limit: 500 })) {
			for (const { id, url, description } of records) {
				const [, until = ''] = new RegExp(`^${ownPrefix}: .*, until (\\S+)$`).exec(String(description)) ?? [];
				if (until !== '' && (url === ownUrl || Date.parse(until) < now - 60_000)) await endApprovalSubscription(api, String(id));
			}
		}
	};
	// A user who may not read subscriptions has none.
	await reading().catch(() => undefined);
}

export async function endApprovalSubscription(api: Connection, id: string | undefined): Promise<void> {
	if (id !== undefined) await undefinedIfGone(api.send({ method: 'DELETE', path: webhooks + path`/${id}` })).catch(() => undefined);
}

/** Equal for each attempt of Retry On Fail, so that no attempt creates a second task. */
export function keyForStep({ identity }: Execution, write: WriteDescription | undefined, step: string) {
	if (write?.idempotencyHeader === undefined) return {};
	const key = idempotencyKey({ ...identity, run: `${identity.run}/${step}`, items: [0] }, write.idempotencyKey);
	return { idempotency: { header: write.idempotencyHeader, key } };
}
