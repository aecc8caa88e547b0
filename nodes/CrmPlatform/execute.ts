import { randomUUID } from 'node:crypto';

import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type IPairedItemData,
} from 'n8n-workflow';

import { connect, inWords } from './api/connection';
import { ItemWithFiles } from './files/itemWithFiles';
import type { Batched, Execution, Operation, Resource, Run } from './model';
import { resourceNamed } from './resources';
import { runInBatches, runSequentially, type ItemOutcome } from './schedule';
import { refuseMixedUpToolCall, toolCallOf, type ToolCall } from './toolCall';
import { originalExecution } from './writing/runState';

/**
 * Runs the node's operation for each input item, in order. Each output, errors included, is linked
 * to the item it came from; notices for the user become hints, or part of the error.
 *
 * @throws NodeApiError or NodeOperationError of the first item that failed, unless the node is set to
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
		if (result instanceof ItemWithFiles) output.push({ json: result.json, binary: result.files, pairedItem });
		else if (!Array.isArray(result)) output.push({ json: withoutError(result), pairedItem });
		else for (const json of result) output.push({ json: withoutError(json), pairedItem });
	}

	const [first] = failures;
	if (!first) call?.succeeded();
	if (first && !isWanted()) {
		const summary = items.length > 1 ? [summaryOf(failures, done, items.length)] : [];
		throw withLines(first.failure, [...summary, ...api.notices]);
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
	// If preparation fails, every item fails with that error.
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
	throw new NodeOperationError(n8n.getNode(), 'Unknown resource or operation', {
		description: 'Open the node and choose a resource and an operation.',
	});
}

function identityOf(n8n: IExecuteFunctions, call: ToolCall | undefined): Execution['identity'] {
	return {
		instance: n8n.getInstanceId(),
		workflow: n8n.getWorkflow().id ?? '',
		// Executions that are not stored have no id, and nothing can repeat them.
		execution: originalExecution(n8n, n8n.getExecutionId() ?? randomUUID()),
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
	const failure = known ? error : new NodeOperationError(n8n.getNode(), inWords(error));
	failure.context.itemIndex ??= item;
	return failure;
}

/**
 * A record without `error`: under Retry On Fail, n8n takes a first item that has one for a failure and
 * runs the node again (n8n-core 2.41, WorkflowExecute, checkFailure). The value moves to `error_info`.
 */
function withoutError(record: IDataObject): IDataObject {
	if (!Object.hasOwn(record, 'error')) return record;
	const { error, ...others } = record;
	const name = ['error_info', 'error_info_2'].find((free) => !Object.hasOwn(others, free));
	return { ...others, [name ?? 'error_info_3']: error };
}

/** What became of the other items: some of them may be written already. */
function summaryOf(failures: Failure[], done: number, count: number): string {
	const failed = failures.flatMap(({ items }) => items);
	const untried = count - done - failed.length;
	const which = failed.slice(0, 10).join(', ') + (failed.length > 10 ? ', …' : '');
	return `Of ${count} items, ${done} succeeded, ${failed.length} failed (${which}) and ${untried} were not tried. To get a result for each item, set On Error to Continue.`;
}

/** The failure with more lines: n8n drops the hints of a node that fails. */
function withLines(failure: Failure['failure'], lines: string[]): Failure['failure'] {
	failure.description = [failure.description, ...lines].filter(Boolean).join('\n');
	return failure;
}

/** Exactly these three: n8n takes an item with no others for an error (n8n-core 2.41, handleNodeErrorOutput). */
function errorJson(failure: Failure['failure']): IDataObject {
	return {
		error: failure.message,
		message: failure.message,
		details: { description: failure.description ?? '', ...(failure.context.data as IDataObject) },
	};
}
