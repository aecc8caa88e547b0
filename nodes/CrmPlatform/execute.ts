import { randomUUID } from 'node:crypto';

import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type IPairedItemData,
} from 'n8n-workflow';

import { connect } from './api/connection';
import type { Batched, Execution, Operation, Resource, Run } from './model';
import { resourceNamed } from './resources';
import { runInBatches, runSequentially, type ItemOutcome } from './schedule';
import { refuseMixedUpToolCall, toolCallOf, type ToolCall } from './toolCall';

/**
 * Does the node's operation for each input item, in order. Each output, errors included, is linked
 * to the item it came from; the hints at the end, or the error, tell what the user should know.
 *
 * @throws NodeApiError or NodeOperationError of the first item that failed, unless the node is to
 * continue on fail
 */
export async function execute(n8n: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = n8n.getInputData();
	if (items.length === 0) return [[]];
	const { resource, operation } = chosen(n8n);
	const api = await connect(n8n);
	const call = toolCallOf(n8n);
	const job: Execution = { n8n, api, resource, operation, identity: identityOf(n8n, call) };

	const output: INodeExecutionData[] = [];
	const failures: Failure[] = [];
	const isWanted = () =>
		!n8n.getExecutionCancelSignal()?.aborted && (failures.length === 0 || n8n.continueOnFail());
	let done = 0;
	for await (const { items: of, result } of outcomes(job, items.length, isWanted)) {
		const pairedItem = linkTo(of);
		if (result instanceof Error) {
			const failure = nodeErrorOf(n8n, result, of[0]);
			failures.push({ items: of, failure });
			output.push({ json: errorJson(failure), pairedItem });
			continue;
		}
		done += of.length;
		if (!Array.isArray(result)) output.push({ json: result, pairedItem });
		else for (const json of result) output.push({ json, pairedItem });
	}

	const [first] = failures;
	if (!first) call?.succeeded();
	if (first && !isWanted()) {
		const sums = items.length > 1 ? [summed(failures, done, items.length)] : [];
		throw adding(first.failure, [...sums, ...api.notices]);
	}
	for (const message of api.notices) n8n.addExecutionHints({ message, location: 'outputPane' });
	return [output];
}

interface Failure {
	items: number[];
	failure: NodeApiError | NodeOperationError;
}

function linkTo(items: number[]): IPairedItemData | IPairedItemData[] {
	return items.length > 1 ? items.map((item) => ({ item })) : { item: items[0] ?? 0 };
}

async function* outcomes(
	job: Execution,
	count: number,
	isWanted: () => boolean,
): AsyncGenerator<ItemOutcome, void> {
	const preparing = prepared(job);
	// A failed preparation is each item's failure, as what it was for.
	const plan = await preparing.catch(() => async () => (await preparing) as never);
	if (typeof plan === 'function') yield* runSequentially(plan, count, isWanted);
	else yield* runInBatches(plan, count, isWanted);
}

async function prepared(job: Execution): Promise<Run | Batched> {
	refuseMixedUpToolCall(job.n8n);
	return await job.operation.prepare(job);
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

function identityOf(n8n: IExecuteFunctions, call: ToolCall | undefined): Execution['identity'] {
	return {
		instance: n8n.getInstanceId(),
		workflow: n8n.getWorkflow().id ?? '',
		// Executions that are not stored have no id; then nothing can repeat them either.
		execution: n8n.getExecutionId() ?? randomUUID(),
		node: n8n.getNode().id,
		run: call?.id ?? (n8n.getWorkflowDataProxy(0).$runIndex as number),
	};
}

function nodeErrorOf(
	n8n: IExecuteFunctions,
	error: Error,
	item: number | undefined,
): Failure['failure'] {
	const known = error instanceof NodeApiError || error instanceof NodeOperationError;
	const failure = known ? error : new NodeOperationError(n8n.getNode(), error);
	failure.context.itemIndex ??= item;
	return failure;
}

/** What became of the items beside the first that failed: some of them may be written already. */
function summed(failures: Failure[], done: number, count: number): string {
	const failed = failures.flatMap(({ items }) => items);
	const untried = count - done - failed.length;
	const which = failed.slice(0, 10).join(', ') + (failed.length > 10 ? ', …' : '');
	return `Of ${count} items ${done} were done, ${failed.length} failed (${which}) and ${untried} were not tried. For a result of each item, set On Error to Continue.`;
}

/** The failure with more to say: n8n drops the hints of a node that fails. */
function adding(failure: Failure['failure'], lines: string[]): Failure['failure'] {
	failure.description = [failure.description, ...lines].filter(Boolean).join('\n');
	return failure;
}

/** Exactly these three: n8n takes an item with them for an error, and one with more for data. */
function errorJson(failure: Failure['failure']): IDataObject {
	return {
		error: failure.message,
		message: failure.message,
		details: { description: failure.description ?? '', ...(failure.context.data as IDataObject) },
	};
}
