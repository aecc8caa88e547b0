import type { ITriggerFunctions, NodeApiError, NodeOperationError } from 'n8n-workflow';

/** Puts a failed execution in the list, which starts the error workflow; the trigger goes on. */
export function reportFailure(n8n: ITriggerFunctions, error: NodeApiError | NodeOperationError): void {
	n8n.logger.error(`${n8n.getNode().name}: ${error.message}`);
	n8n.saveFailedExecution(error);
}
