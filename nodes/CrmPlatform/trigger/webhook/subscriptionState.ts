import type { IHookFunctions, ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { onlyIfSchema } from '../onlyIf';
import { readState, storeState, triggerKey } from '../storedState';

const schema = z.object({
	/** The subscription this trigger has made; absent while it is unpublished. */
	id: z.string().optional(),
	/** The secret that signs its deliveries. */
	secret: z.string().optional(),
	/** The events, and n8n's address, which n8n states only when the workflow is published. */
	url: z.string().optional(),
	events: z.array(z.string()).optional(),
	/** The address of n8n when the trigger last subscribed; it may have changed since. */
	deliversTo: z.string().optional(),
	/** The `updated_at` of the subscription when nothing was missing. If it differs now, somebody has changed the subscription. */
	changed: z.string().optional(),
	/** The instant (RFC 3339) up to which every event has been delivered, as far as known. */
	deliveredUntil: z.string().optional(),
	/** The conditions that records must meet, as resolved at the publish. */
	onlyIf: onlyIfSchema.optional(),
});

/** The static data of a webhook trigger. */
export type SubscriptionState = z.infer<typeof schema>;

export type TriggerFunctions = IHookFunctions | IWebhookFunctions | ITriggerFunctions;

/** Whether this is a test run, which has a temporary address of its own. */
export const isTest = (n8n: TriggerFunctions): boolean => !n8n.getWorkflow().active;

export function readSubscription(n8n: TriggerFunctions): SubscriptionState {
	if (!isTest(n8n)) return readState(n8n, schema) ?? {};
	const stored: unknown = n8n.getWorkflowStaticData('global')[testName(n8n)];
	return schema.safeParse(JSON.parse(JSON.stringify(stored ?? {}))).data ?? {};
}

export function storeSubscription(n8n: IHookFunctions | ITriggerFunctions, state: SubscriptionState): void {
	if (isTest(n8n)) n8n.getWorkflowStaticData('global')[testName(n8n)] = { ...state };
	else storeState(n8n, state);
}

const testName = (n8n: TriggerFunctions): string => `crmPlatformTest/${n8n.getNode().id}`;

/** The running work of this process, by trigger. */
const underWay = new Map<string, Promise<unknown>>();

/** Serializes the work of each trigger, so that a check never undoes an unpublish. */
export async function serialized<Result>(n8n: TriggerFunctions, work: () => Promise<Result>): Promise<Result> {
	const name = `${triggerKey(n8n)} ${String(isTest(n8n))}`;
	const turn = (underWay.get(name) ?? Promise.resolve()).catch(() => undefined).then(work);
	underWay.set(name, turn);
	return await turn.finally(() => {
		if (underWay.get(name) === turn) underWay.delete(name);
	});
}
