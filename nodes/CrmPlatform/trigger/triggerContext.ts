import {
	type IExecuteFunctions, type IHookFunctions, type ITriggerFunctions, type IWebhookFunctions, NodeApiError, NodeOperationError,
} from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { executionOfOne } from '../base/contexts';
import type { ReadingRun, Resource } from '../model';

export type TriggerContext = ITriggerFunctions | IHookFunctions | IWebhookFunctions;

export type PublishContext = ITriggerFunctions | IHookFunctions;

/** Whether n8n itself has started the trigger, as it does when n8n starts, and nobody has published the workflow. */
export const isStartedByN8n = (n8n: Pick<ITriggerFunctions, 'getActivationMode'>): boolean =>
	['init', 'leadershipChange'].includes(n8n.getActivationMode());

/**
 * Reads parameters as in an execution with one empty item: those of a trigger do not depend on an item.
 *
 * @param parameters values of parameters that the trigger does not have
 */
export const asExecution = (n8n: TriggerContext, parameters: Record<string, string> = {}): IExecuteFunctions =>
	executionOfOne(n8n, (name, _, ...otherwise) => parameters[name] ?? n8n.getNodeParameter(name, ...otherwise), { isToolExecution: () => false });

export const readingOf = (n8n: TriggerContext, api: Connection, resource: Resource, parameters?: Record<string, string>): ReadingRun =>
	({ n8n: asExecution(n8n, parameters), api, resource });

/** Adds a failed execution to the list, which starts the error workflow; the trigger continues. */
export function reportFailure(n8n: ITriggerFunctions, error: NodeApiError | NodeOperationError): void {
	n8n.logger.error(`${n8n.getNode().name}: ${error.message}`);
	n8n.saveFailedExecution(error);
}

/** What the user is told by a failed execution. */
export interface Report {
	message: string;
	description?: string;
}

export const sendReport = (n8n: ITriggerFunctions, { message, description }: Report): void =>
	reportFailure(n8n, new NodeOperationError(n8n.getNode(), message, { ...(description !== undefined && { description }) }));

export const debugLeftOut = (n8n: ITriggerFunctions, ids: string[], why: string): void =>
	n8n.logger.debug(`${n8n.getNode().name}: ${ids.join(', ')} starts nothing: ${why}.`);

export function asNodeError(n8n: ITriggerFunctions, error: unknown): NodeApiError | NodeOperationError {
	const isForUsers = error instanceof NodeApiError || error instanceof NodeOperationError;
	if (!isForUsers) return new NodeOperationError(n8n.getNode(), error as Error);
	// The trigger that sent the shared query may belong to another workflow.
	const node = n8n.getNode();
	return error.node.id === node.id ? error : new NodeOperationError(node, error.message, { description: error.description ?? '' });
}
