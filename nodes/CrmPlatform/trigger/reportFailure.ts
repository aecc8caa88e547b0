import { NodeApiError, NodeOperationError, type ITriggerFunctions } from 'n8n-workflow';

/** Adds a failed execution to the list, which starts the error workflow; the trigger continues. */
export function reportFailure(n8n: ITriggerFunctions, error: NodeApiError | NodeOperationError): void {
	n8n.logger.error(`${n8n.getNode().name}: ${error.message}`);
	n8n.saveFailedExecution(error);
}

/** An error of this node, in the user's words. */
export function asNodeError(n8n: ITriggerFunctions, error: unknown): NodeApiError | NodeOperationError {
	const isForUsers = error instanceof NodeApiError || error instanceof NodeOperationError;
	if (!isForUsers) return new NodeOperationError(n8n.getNode(), error as Error);
	// The trigger that sent the shared query may belong to another workflow.
	const node = n8n.getNode();
	return error.node.id === node.id ? error : new NodeOperationError(node, error.message, { description: error.description ?? '' });
}
