import { NodeOperationError, type IDataObject, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';

import { connect } from './api/connection';
import { failureSummary, nodeFailure, reasonLines, withLines, withRecordName, type ItemFailure } from './failure';
import { operationOf, type ProceedAfter, type NamesToAdd, type NodeRun, type Operation, type Resource, type Work } from './model';
import { previewOf } from './changes/preview';
import { withLinkedNames } from './lookUp/linkedNames';
import { allItems, summaryItem, type ItemResult } from './output';
import { parsePreview } from './values/parsers';
import { collectionPath } from './mapping/locator';
import { dependsOnItem, refuseDiffering } from './mapping/sameForAll';
import { valuesInOption } from './parameters/fieldParameters';
import { addNamesOption, outputOption, isSummary, previewOption } from './parameters/outputParameters';
import { namesToAdd } from './reading/simplify';
import { chosenResource } from './resources';
import { eachItem, runAll } from './schedule';
import { answerOf, type NodeOutput } from './nodeAsTool/toolAnswer';
import { refuseForeignArguments, toolCallOf } from './nodeAsTool/toolCall';
import { isToolCall } from './api/toolNode';
import { inSlices } from './writing/batches';
import { linkedRecordsToAdd, RecordCreator } from './writing/recordCreator';
import { runIdentity } from './writing/runState';

/**
 * Runs the operation for each input item, in order. Each output, errors included, is linked to its item; notices become hints, or part of an error.
 *
 * @param node its resources, by default those of CRM Platform and CRM Platform Admin; and `NodeRun.reviewText`
 * @throws NodeApiError or NodeOperationError of the first item that failed, unless the node is set to continue
 */
export async function execute(n8n: IExecuteFunctions, node: ExecutedNode = {}): Promise<INodeExecutionData[][]> {
	return await answerOf(n8n, async () => await runOperation(n8n, node));
}

type ExecutedNode = Pick<NodeRun, 'reviewText'> & { offered?: Resource[] };

async function runOperation(n8n: IExecuteFunctions, { offered, reviewText }: ExecutedNode): Promise<NodeOutput> {
	if (n8n.getInputData().length === 0) return { items: [], notices: [] };
	const { resource, operation } = chosenOperation(n8n, offered);
	const api = await connect(n8n);
	const call = toolCallOf(n8n);
	const identity = call?.identity ?? runIdentity(n8n, n8n.getWorkflowDataProxy(0).$runIndex as number);
	const { isSummarized, names } = outputChoice(n8n, operation);
	const run: NodeRun = { n8n, api, resource, operation, identity, reviewText };

	const count = countOfRuns(run);
	// If preparation fails, every item fails with that error.
	const work = await prepareWork(run).catch((error: Error) => eachItem(async () => await Promise.reject(error)));
	const results = resultsOfItems(run, work, count);
	const isUpsert = operation.option.value === 'upsert';
	const { items, failures, done } = await (isSummarized ? summaryItem(n8n, results, count, isUpsert) : allItems(n8n, results));
	call?.end(failures.length > 0, api.mayHaveWritten());
	reportFailures(run, failures, done, count);
	return { items: await withNames(run, items, names), notices: api.notices };
}

function chosenOperation(n8n: IExecuteFunctions, offered: Resource[] | undefined): { resource: Resource; operation: Operation } {
	const chosen = chosenResource((parameter) => n8n.getNodeParameter(parameter, 0));
	const resource = offered ? offered.find(({ value }) => value === chosen?.value) : chosen;
	const operation = resource && operationOf(resource, n8n.getNodeParameter('operation', 0));
	if (resource && operation) return { resource, operation };
	throw new NodeOperationError(n8n.getNode(), 'Unknown resource or operation', {
		description: 'Open the node and choose a resource and an operation.',
	});
}

/**
 * Whether a summary is output, and which names of linked records: those that cost little if the user has not chosen.
 *
 * @throws NodeOperationError for an invalid option, and for one that differs between items
 */
function outputChoice(n8n: IExecuteFunctions, { options = [] }: Operation): { isSummarized: boolean; names: NamesToAdd } {
	try {
		refuseDiffering(n8n, options.filter((option) => option === valuesInOption || option === previewOption));
		const isSummarized = options.includes(outputOption) && isSummary(n8n);
		if (isSummarized || !options.includes(addNamesOption)) return { isSummarized, names: 'none' };
		return { isSummarized, names: namesToAdd(n8n) };
	} catch (error) {
		throw nodeFailure(n8n, error as Error, 0);
	}
}

/** How often the operation runs: for each item, or once if all runs would return the same. */
function countOfRuns({ n8n, api, operation }: NodeRun): number {
	const items = n8n.getInputData().length;
	if (items === 1 || !operation.isOnceForAll || dependsOnItem(n8n.getNode().parameters)) return items;
	api.notices.add(
		`Done once, not ${items} times: no parameter depends on the input item, so all ${items} items would give the same result. `
		+ 'The output is linked to the first item.',
	);
	return 1;
}

async function prepareWork(run: NodeRun): Promise<Work> {
	const { n8n, api, operation } = run;
	if (isToolCall(n8n)) refuseForeignArguments(n8n);
	const isPreview = operation.options?.includes(previewOption) === true && parsePreview(n8n.getNodeParameter('options.preview', 0, false));
	const creator = new RecordCreator(run, isPreview);
	const prepared = await operation.prepare({
		...run,
		...(isPreview && { checks: { links: 'all', values: false } }),
		...linkedRecordsToAdd(run, creator),
	});
	for (const { records, count } of creator.summary) {
		const created = isPreview ? 'would be created' : 'were created';
		api.notices.add(`Linked Records: ${String(count)} × ${String(records)} ${created}, because none had the name.`);
	}
	if ('writes' in prepared) return isPreview ? previewOf(run, prepared) : inSlices(run, prepared);
	// Work is done as it is: an operation that offers a preview must describe its writes.
	if (isPreview) throw new Error(`${operation.option.name} has no preview. Remove the option.`);
	return prepared;
}

/** Runs the items. Yields their results in their order, with errors as n8n shows them. */
async function* resultsOfItems(run: NodeRun, work: Work, count: number): AsyncGenerator<ItemResult, void> {
	const { n8n, api } = run;
	const proceedAfter: ProceedAfter = (results) =>
		!n8n.getExecutionCancelSignal()?.aborted && (n8n.continueOnFail() || !results.some((result) => result instanceof Error));
	for await (const { item, result } of runAll(work, count, proceedAfter)) {
		if (result instanceof Error) yield { item, failure: await withRecordName(api, nodeFailure(n8n, result, item), () => collectionPath(run, item)) };
		else yield { item, outputs: Array.isArray(result) ? result : [result] };
	}
}

/** Tells the user of failures. @throws the first one, with a summary of the others, unless the node is set to continue on fail */
function reportFailures({ n8n, api }: NodeRun, failures: ItemFailure[], done: number, count: number): void {
	const [first] = failures;
	if (!first) return;
	if (!n8n.continueOnFail() || n8n.getExecutionCancelSignal()?.aborted) {
		const summary = count > 1 ? failureSummary(failures, done, count) : [];
		const others = [...api.notices].filter((notice) => !notice.includes(first.failure.message));
		throw withLines(first.failure, [...summary, ...others]);
	}
	if (failures.length > 1) api.notices.add([`${failures.length} of ${count} items failed:`, ...reasonLines(failures)].join('\n'));
}

/** A page is one item with many records. Failed items, which alone have an `error`, stay as they are: they have the values of their input. */
async function withNames({ api, resource }: NodeRun, items: INodeExecutionData[], names: NamesToAdd): Promise<INodeExecutionData[]> {
	if (names === 'none') return items;
	const fields = (await api.describe(resource.path))?.fields ?? [];
	const succeeded = items.filter(({ json }) => !Object.hasOwn(json, 'error'));
	const recordsOf = ({ json }: INodeExecutionData) => (Array.isArray(json.records) ? (json.records as IDataObject[]) : [json]);
	const named = (await withLinkedNames(api, fields, succeeded.flatMap(recordsOf), names === 'all')).values();
	const next = () => named.next().value as IDataObject;
	for (const item of succeeded) item.json = Array.isArray(item.json.records) ? { ...item.json, records: item.json.records.map(next) } : next();
	return items;
}
