import { WorkflowExpression } from 'n8n-workflow';

/**
 * Refuses an n8n older than 2.10; 2.20 is the oldest that is supported. Such an n8n takes `ignoreHttpStatusErrors: {ignore, except}` for
 * `true`, so that it would never renew an OAuth2 token, and knows no `isToolExecution` before 2.2. It
 * does not tell nodes its version; `WorkflowExpression` is what n8n-workflow 2.10.0 exports first.
 *
 * @throws Error with what to do
 */
export function refuseOldN8n(): void {
	if (WorkflowExpression as unknown) return;
	throw new Error(
		'This n8n is too old for the CRM Platform nodes: they need n8n 2.20 or newer. Update n8n, then try again.',
	);
}
