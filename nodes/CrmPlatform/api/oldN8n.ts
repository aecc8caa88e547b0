import { WorkflowExpression } from 'n8n-workflow';

/**
 * Refuses n8n before 2.10; the oldest supported version is 2.20. Before 2.10, n8n treats
 * `ignoreHttpStatusErrors: {ignore, except}` as `true` and never renews an OAuth2 token. A node cannot read n8n's
 * version, but n8n-workflow has exported `WorkflowExpression` since 2.10.0.
 *
 * @throws Error with what to do
 */
export function refuseOldN8n(): void {
	if (WorkflowExpression as unknown) return;
	throw new Error(
		'This n8n is too old for the CRM Platform nodes: they need n8n 2.20 or newer. Update n8n, then try again.',
	);
}
