import { NodeApiError, NodeOperationError, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

import { inWords } from './api/connection';

/** An error as n8n shows it. */
export type NodeFailure = NodeApiError | NodeOperationError;

/** The error as n8n shows it, linked to the input item it is about. */
export function nodeFailure(n8n: IExecuteFunctions, error: Error, item: number | undefined): NodeFailure {
	const isKnown = error instanceof NodeApiError || error instanceof NodeOperationError;
	const failure = isKnown ? error : new NodeOperationError(n8n.getNode(), inWords(error));
	failure.context.itemIndex ??= item;
	return failure;
}

/** Adds lines to the failure's description: n8n drops the hints of a node that fails. */
export function withLines(failure: NodeFailure, lines: string[]): NodeFailure {
	failure.description = [failure.description, ...lines].filter(Boolean).join('\n');
	return failure;
}

/**
 * The failure as an output item. It has exactly these three members: n8n takes an item with no others
 * for an error (n8n-core 2.41, handleNodeErrorOutput).
 */
export function failureJson({ message, description, context }: NodeFailure): IDataObject {
	const details = { description: description ?? '', ...(context.data as IDataObject) };
	return { error: message, message, details };
}
