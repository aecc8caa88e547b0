import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { originOf, type KeyOrigin } from '../api/http/idempotency';
import { getOrCreate } from '../base/maps';
import { causeOf, type Cause } from '../log/cause';
import { openEventLog } from '../log/eventLog';
import { matchingName } from '../lookUp/searchList';
import { editorConnection } from './editorContext';

/** Maximum number of events for a list, the newest first: reading them takes a second or two. */
const maxEvents = 10_000;

/** Who made changes. */
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
