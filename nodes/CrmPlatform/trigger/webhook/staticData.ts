import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { z } from 'zod';

/** What the old subscription left undone, for the one that follows it. */
const gap = z.object({
	/** Instants (RFC 3339): nothing undone is older; all from `until` on was missed. */
	from: z.string(),
	until: z.string(),
	/** Events in between that did not arrive; null if they are too many to know. */
	missing: z.array(z.string()).nullable(),
	/** Whether the service has been asked for them. */
	asked: z.boolean(),
});

const kept = z.object({
	/** Whose it is: a copy of the workflow, in this n8n or another, is somebody else. */
	instance: z.string(),
	workflow: z.string(),
	/** The subscription and the secret that its deliveries are signed with. */
	id: z.string().optional(),
	secret: z.string().optional(),
	/** The instant from which on its events are this trigger's, those of the gap included. */
	since: z.string().optional(),
	gap: gap.optional(),
});

export type Backlog = z.infer<typeof gap>;
export type SubscriptionState = z.infer<typeof kept>;

type Functions = IHookFunctions | IWebhookFunctions;

/** A test run listens at another address, for a while; what comes later is nobody's. */
export const isTest = (n8n: Functions): boolean => !n8n.getWorkflow().active;

/** What this trigger keeps of its subscription in the workflow's static data. */
export function readState(n8n: Functions): SubscriptionState {
	const nobody: SubscriptionState = { instance: n8n.getInstanceId(), workflow: String(n8n.getWorkflow().id) };
	const parsed = kept.safeParse(structured(n8n.getWorkflowStaticData('global')[keyOf(n8n)]));
	if (!parsed.success) return nobody;
	const { instance, workflow } = parsed.data;
	return instance === nobody.instance && workflow === nobody.workflow ? parsed.data : nobody;
}

/** n8n saves it after activation and deactivation, and not when an event starts the workflow. */
export function saveState(n8n: IHookFunctions, value: SubscriptionState): void {
	n8n.getWorkflowStaticData('global')[keyOf(n8n)] = structured(value) as IDataObject;
}

/** By the node's id: n8n's own place for a node goes by its name, and a rename would lose it. */
const keyOf = (n8n: Functions): string => `crmPlatformTrigger:${n8n.getNode().id}`;

/** Plain JSON: n8n wraps what it holds to see changes, and must not wrap what we go on using. */
const structured = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));
