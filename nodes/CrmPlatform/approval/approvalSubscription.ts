import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { isAnsweredWith } from '../api/fetchRecord';
import { refusedSubscription } from '../api/http/statuses';
import { createSubscription, deleteSubscription, listSubscriptions } from '../api/webhookSubscriptions';
import type { Execution } from '../model';
import { completedEvent } from './approvalRequest';

/** The beginning of the description of a subscription; the end is the time until which it is needed. */
const ownPrefix = 'n8n approval: ';

/** @returns the id of the subscription; undefined if the service refuses to call this n8n */
export async function subscribeToAnswer(execution: Execution, url: string, until: Date): Promise<string | undefined> {
	const { n8n, api } = execution;
	if (!(await api.describe('/webhooks'))?.create) return undefined;
	const { types } = await api.describeEvents();
	const isKnown = types.length === 0 || types.some(({ type }) => type === completedEvent);
	const body = {
		url,
		events: [isKnown ? completedEvent : 'task.updated', 'task.deleted'],
		description: `${ownPrefix}${`${n8n.getWorkflow().name ?? ''} / ${n8n.getNode().name}`.slice(0, 150)}, until ${until.toISOString()}`,
	};
	let isRefused = false;
	const subscription = await createSubscription(api, body).catch((error: unknown) => {
		if (!isAnsweredWith(error, ...refusedSubscription)) throw error;
		isRefused = true;
	});
	if (isRefused) api.notices.add('The CRM cannot call this n8n, or the credential has no permission for webhooks. The approver has to open the link in the task after completing or deleting it.');
	const { id } = (subscription ?? {}) as IDataObject;
	return id === undefined ? undefined : String(id);
}

/** Ends the subscriptions of expired requests and of earlier attempts: n8n does not tell a node that its wait has expired. */
export async function endOldSubscriptions(execution: Execution, ownUrl: string, now: number): Promise<void> {
	const { api } = execution;
	const reading = async () => {
		for await (const { id, url, description } of listSubscriptions(api, ownPrefix, { limit: 500 })) {
			const [, until = ''] = /, until (\S+)$/.exec(String(description)) ?? [];
			if (until !== '' && (url === ownUrl || Date.parse(until) < now - 60_000)) await endApprovalSubscription(api, String(id));
		}
	};
	// If the service does not list subscriptions, or does not let this user read them, there is nothing to end.
	await reading().catch(() => undefined);
}

export async function endApprovalSubscription(api: Connection, id: string | undefined): Promise<void> {
	if (id !== undefined) await deleteSubscription(api, id).catch(() => undefined);
}
