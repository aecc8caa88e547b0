import { WorkflowExpression } from 'n8n-workflow';

/**
 * Refuses n8n before 2.10; the oldest supported version is 2.20. Before 2.10, n8n takes
 * `ignoreHttpStatusErrors: {ignore, except}` for `true` and never renews an OAuth2 token. Nodes are not
 * told n8n's version; n8n-workflow exports `WorkflowExpression` since 2.10.0.
 *
 * @throws Error with what to do
 */
export function refuseOldN8n(): void {
	if (WorkflowExpression as unknown) return;
	throw new Error(
		'This n8n is too old for the CRM Platform nodes: they need n8n 2.20 or newer. Update n8n, then try again.',
	);
}
