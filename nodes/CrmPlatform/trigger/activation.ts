import type { ITriggerFunctions } from 'n8n-workflow';

/** Whether n8n itself has started the trigger, as it does when n8n starts, and nobody has published the workflow. */
export const isStartedByN8n = (n8n: Pick<ITriggerFunctions, 'getActivationMode'>): boolean =>
	['init', 'leadershipChange'].includes(n8n.getActivationMode());
