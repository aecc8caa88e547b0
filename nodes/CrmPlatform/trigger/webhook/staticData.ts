import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { z } from 'zod';

const subscriptionState = z.object({
	/** The owner: a copy of the workflow, in this n8n or another, carries the original's static data. */
	instance: z.string(),
	workflow: z.string(),
	/** The subscription, and the secret that signs its deliveries. */
	id: z.string().optional(),
	secret: z.string().optional(),
	/** The instant from which its events belong to this trigger, recovered ones included. */
	since: z.string().optional(),
	/** The instant from which the next subscription has to recover events. */
	backlogStart: z.string().optional(),
});

export type SubscriptionState = z.infer<typeof subscriptionState>;

type Functions = IHookFunctions | IWebhookFunctions;

/** A test run has an address of its own for a while, and keeps nothing. */
export const isTest = (n8n: Functions): boolean => !n8n.getWorkflow().active;

/** Reads the trigger's state from the workflow's static data. */
export function readState(n8n: Functions): SubscriptionState {
	const empty: SubscriptionState = { instance: n8n.getInstanceId(), workflow: String(n8n.getWorkflow().id) };
	const parsed = subscriptionState.safeParse(plain(n8n.getWorkflowStaticData('global')[keyOf(n8n)]));
	if (!parsed.success) return empty;
	const { instance, workflow } = parsed.data;
	return instance === empty.instance && workflow === empty.workflow ? parsed.data : empty;
}

/** n8n stores static data after activation and deactivation, and not when an event starts the workflow. */
export function saveState(n8n: IHookFunctions, state: SubscriptionState): void {
	n8n.getWorkflowStaticData('global')[keyOf(n8n)] = plain(state) as IDataObject;
}

/** By the node's id: n8n's own place for a node goes by its name, which a rename changes. */
const keyOf = (n8n: Functions): string => `crmPlatformTrigger:${n8n.getNode().id}`;

/** A copy without the proxies with which n8n observes static data. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));
