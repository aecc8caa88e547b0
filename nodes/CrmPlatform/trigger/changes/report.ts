import type { ITriggerFunctions, NodeApiError, NodeOperationError } from 'n8n-workflow';

/** Adds a failed execution to the list, which starts the error workflow; the trigger continues. */
export function reportFailure(n8n: ITriggerFunctions, error: NodeApiError | NodeOperationError): void {
	n8n.logger.error(`${n8n.getNode().name}: ${error.message}`);
	n8n.saveFailedExecution(error);
}
