import { randomUUID } from 'node:crypto';

import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';

import { connect } from './api/connection';
import type { Job, Operation, Resource } from './model';
import { resourceNamed } from './resources';

/**
 * Does the node's operation for each input item, in order. Each output, errors included, is linked
 * to the item it came from; the hints at the end tell what the user should know.
 */
export async function execute(n8n: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = n8n.getInputData();
	if (items.length === 0) return [[]];
	const { resource, operation } = chosen(n8n);
	const api = await connect(n8n);
	const job: Job = { n8n, api, resource, identity: identityOf(n8n) };

	const output: INodeExecutionData[] = [];
	const preparing = operation.prepare(job);
	for (let item = 0; item < items.length; item++) {
		const pairedItem = { item };
		try {
			const run = await preparing;
			for (const json of [await run(item)].flat()) output.push({ json, pairedItem });
		} catch (error) {
			const failure = nodeErrorOf(n8n, error, item);
			if (!n8n.continueOnFail() || n8n.getExecutionCancelSignal()?.aborted) throw failure;
			output.push({ json: errorJson(failure), pairedItem });
		}
	}

	for (const message of api.notices) n8n.addExecutionHints({ message, location: 'outputPane' });
	return [output];
}

function chosen(n8n: IExecuteFunctions): { resource: Resource; operation: Operation } {
	const resource = resourceNamed(n8n.getNodeParameter('resource', 0));
	const operationValue = n8n.getNodeParameter('operation', 0);
	const operation = resource?.operations.find(({ option }) => option.value === operationValue);
	if (resource && operation) return { resource, operation };
	throw new NodeOperationError(n8n.getNode(), 'The node does not know this operation', {
		description: 'Open the node and choose a resource and an operation.',
	});
}

function identityOf(n8n: IExecuteFunctions): Job['identity'] {
	return {
		instance: n8n.getInstanceId(),
		workflow: n8n.getWorkflow().id ?? '',
		// Executions that are not stored have no id; then nothing can repeat them either.
		execution: n8n.getExecutionId() ?? randomUUID(),
		node: n8n.getNode().id,
		run: n8n.getWorkflowDataProxy(0).$runIndex as number,
	};
}

function nodeErrorOf(n8n: IExecuteFunctions, error: unknown, item: number) {
	const known = error instanceof NodeApiError || error instanceof NodeOperationError;
	const failure = known ? error : new NodeOperationError(n8n.getNode(), error as Error);
	failure.context.itemIndex = item;
	return failure;
}

/** Exactly these three: n8n takes an item with them for an error, and one with more for data. */
function errorJson(failure: NodeApiError | NodeOperationError): IDataObject {
	return {
		error: failure.message,
		message: failure.message,
		details: { description: failure.description ?? '', ...(failure.context.data as IDataObject) },
	};
}
