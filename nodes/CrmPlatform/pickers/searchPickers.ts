import { isExpression, type ILoadOptionsFunctions, type INodeListSearchResult } from 'n8n-workflow';

import { originOf, type KeyOrigin } from '../api/http/idempotency';
import type { Collection } from '../api/http/path';
import { linksOf } from '../api/openapi/linkFields';
import { getOrCreate } from '../base/maps';
import { causeOf, type Cause } from '../log/cause';
import { openEventLog } from '../log/eventLog';
import { matchingName, searchList } from '../lookUp/searchList';
import { editorConnection, editorContext, fieldsOfWrite, filtersOf, listedOptions } from './editorContext';

/** One page of the chosen resource's records that match `filter`. @param cursor the paginationToken of the previous page */
export async function searchRecords(n8n: ILoadOptionsFunctions, filter?: string, cursor?: string): Promise<INodeListSearchResult> {
	const { api, collection } = await editorContext(n8n);
	return await searchList(api, collection, { filter, cursor });
}

/** The picker of the records at `path` (`/tags`), whatever the node's own resource is. */
const searchAt = (path: Collection, value?: string) =>
	async (n8n: ILoadOptionsFunctions, filter?: string, cursor?: string): Promise<INodeListSearchResult> =>
		await searchList(await editorConnection(n8n), path, { filter, cursor, order: ['name', 'label_plural'], ...(value !== undefined && { value }) });

export const searchTags = searchAt('/tags');
export const searchUsers = searchAt('/users');
export const searchPipelines = searchAt('/pipelines');
export const searchWebhooks = searchAt('/webhooks');
/** Custom objects are named by key in paths. */
export const searchCustomObjects = searchAt('/custom-objects', 'key');

/** The stages whose names contain `filter`, of the picked pipeline or of all pipelines. */
export async function searchStages(n8n: ILoadOptionsFunctions, filter?: string): Promise<INodeListSearchResult> {
	const picked = n8n.getCurrentNodeParameter('pipelineId', { extractValue: true });
	return { results: matchingName(await listedOptions(await editorConnection(n8n), '/pipelines', 'stages', picked), filter) };
}

/**
 * The records to which the field chosen in the same row can link.
 *
 * @param cursor the paginationToken of the previous page
 * @throws Error in the user's words if no field is chosen, or the service does not offer it
 */
export async function searchLinked(n8n: ILoadOptionsFunctions, filter?: string, cursor?: string): Promise<INodeListSearchResult> {
	const chosen = n8n.getCurrentNodeParameter('&field');
	if (!chosen) throw new Error('Choose a field first.');
	const context = await editorContext(n8n);
	const links = linksOf(context.operation?.describedWrite ? (await fieldsOfWrite(context)).fields : await filtersOf(context));
	const link = links.find(({ name }) => name === chosen);
	if (!link) throw new Error('The CRM no longer has this field. Choose another one.');
	const { target, part } = link;
	if (part === undefined) return await searchList(context.api, target, { filter, cursor });
	const ownerLink = links.find((other) => other.target === target && other.part === undefined);
	const picked = ownerLink && pickedFor(n8n, ownerLink.name);
	return { results: matchingName(await listedOptions(context.api, target, part, picked), filter) };
}

/** The record picked in another row: the stages offered are those of the picked pipeline. */
function pickedFor(n8n: ILoadOptionsFunctions, name: string): unknown {
	const rows = ['fieldsLinked.records', 'filters.rows', 'recordFilters.rows', 'filters.onlyIf.rows'].flatMap(
		(parameter) => (n8n.getCurrentNodeParameter(parameter) ?? []) as Array<{ field?: string; record?: { value?: unknown } }>,
	);
	const picked = rows.find(({ field }) => field === name)?.record?.value;
	// The value of an expression is known only when the node runs.
	return isExpression(picked) ? undefined : picked;
}

/** Maximum number of events for a list, the newest first: reading them takes a second or two. */
const maxEvents = 10_000;

interface Causer {
	value: string;
	/** Which workflow it belongs to, for people. */
	workflow?: string;
	/** In n8n, relative to its address. */
	url?: string;
}

/** The executions, workflows, users or keys with changes in the log, depending on what the node undoes. */
export async function searchCausers(n8n: ILoadOptionsFunctions, filter?: string): Promise<INodeListSearchResult> {
	const causerType = String(n8n.getCurrentNodeParameter('undoOf'));
	const ownOrigin = originOf(n8n.getInstanceId(), String(n8n.getWorkflow().id));
	const log = await openEventLog(await editorConnection(n8n));
	const found = new Map<string, Causer & { last: string; changes: number }>();
	let eventCount = 0;
	for await (const event of log.newestCauses(maxEvents)) {
		eventCount++;
		const causer = causerOf(causerType, causeOf(event), ownOrigin);
		if (!causer || !/\.(created|updated|deleted)$/.test(event.type)) continue;
		getOrCreate(found, causer.value, () => ({ ...causer, last: event.timestamp, changes: 0 })).changes++;
	}
	const base = n8n.getInstanceBaseUrl();
	// The log continues after the events that were read.
	const atLeast = eventCount === maxEvents ? 'at least ' : '';
	const results = [...found.values()].map(({ value, workflow, url, last, changes }) => ({
		name: [
			value,
			`${atLeast}${changes.toLocaleString('en')} ${changes === 1 ? 'change' : 'changes'}, last ${last.slice(0, 16).replace('T', ' ')} UTC`,
			...(workflow === undefined ? [] : [workflow]),
		].join(' – '),
		value,
		...(url !== undefined && URL.canParse(url, base) && { url: new URL(url, base).href }),
	}));
	return { results: matchingName(results, filter) };
}

function causerOf(causerType: string, { origin, actor }: Cause, ownOrigin: KeyOrigin): Causer | undefined {
	if (causerType === 'actor') return actor === undefined ? undefined : { value: actor };
	if (origin?.instance !== ownOrigin.instance) return undefined;
	const { workflow, execution } = origin;
	const isOwn = workflow === ownOrigin.workflow;
	const url = `workflow/${workflow}`;
	if (causerType === 'workflow') return { value: workflow, workflow: isOwn ? 'this workflow' : 'another workflow of this n8n', url };
	// Without an execution, several executions share the write (Write Once Per).
	if (execution === undefined) return undefined;
	return { value: execution, workflow: isOwn ? 'this workflow' : `workflow ${workflow}`, url: `${url}/executions/${execution}` };
}
