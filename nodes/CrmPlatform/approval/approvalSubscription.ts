import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { isAnsweredWith, undefinedIfGone } from '../api/fetchRecord';
import { idempotencyKey } from '../api/http/idempotency';
import { path } from '../api/http/path';
import { readPages } from '../api/lists/pages';
import type { WriteDescription } from '../api/openapi/writing';
import type { Execution } from '../model';
import { completedEvent } from './approvalRequest';

const webhooks = '/v1/webhooks';

/** Begins the description of the subscriptions, which ends with the time they are needed until. */
const ownPrefix = 'n8n approval';

/** Statuses of a service that will not call this n8n, or not for this user. */
const uncallable = [400, 403, 404, 405, 409, 422, 501];

/** @returns the id of the subscription; undefined where the service will not call this n8n */
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
	// An earlier attempt has ended its own.
	const answer = await api.send({ method: 'POST', path: webhooks, body, ...keyForStep(execution, create, `webhook ${randomUUID()}`) }).catch((error: unknown) => {
		if (isAnsweredWith(error, ...uncallable)) return undefined;
		throw error;
	});
	if (!answer) api.notices.add('The CRM cannot call this n8n, or this sign-in has no permission for it. The approver has to open the link in the task after completing or deleting it.');
	const { id } = (answer?.body ?? {}) as IDataObject;
	return id === undefined ? undefined : String(id);
}

/** Ends the subscriptions of requests that nobody has answered in time: n8n tells no node that its time is over. */
export async function endOldSubscriptions(execution: Execution, now: number): Promise<void> {
	const { api } = execution;
	const list = (await api.describe('/webhooks'))?.list;
	if (!list) return;
	const reading = async () => {
		for await (const { records } of readPages(api.send, { path: webhooks, list, query: {}, limit: 500 })) {
			for (const { id, description } of records) {
				const [, until = ''] = new RegExp(`^${ownPrefix}: .*, until (\\S+)$`).exec(String(description)) ?? [];
				if (Date.parse(until) < now - 60_000) await endApprovalSubscription(api, String(id));
			}
		}
	};
	// Of a user who may not read them there are none.
	await reading().catch(() => undefined);
}

export async function endApprovalSubscription(api: Connection, id: string | undefined): Promise<void> {
	if (id !== undefined) await undefinedIfGone(api.send({ method: 'DELETE', path: webhooks + path`/${id}` })).catch(() => undefined);
}

/** The same for each attempt of Retry On Fail: none makes a second task. */
export function keyForStep({ identity }: Execution, write: WriteDescription | undefined, step: string) {
	if (write?.idempotencyHeader === undefined) return {};
	const key = idempotencyKey({ ...identity, run: `${identity.run}/${step}`, items: [0] }, write.idempotencyKey);
	return { idempotency: { header: write.idempotencyHeader, key } };
}
