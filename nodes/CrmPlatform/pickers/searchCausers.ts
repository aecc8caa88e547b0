import type { ILoadOptionsFunctions, INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';

import { causeOf } from '../log/cause';
import { openEventLog } from '../log/eventLog';
import { originOf, type KeyOrigin } from '../api/http/idempotency';
import { matchingName } from '../lookUp/searchList';
import { editorConnection } from './editorContext';

/** Maximum number of events for a list, the newest first: reading them takes a second or two. */
const maxEvents = 10_000;

/** Who made changes, and when. */
interface Causer extends Pick<INodeListSearchItems, 'value' | 'url'> {
	value: string;
	workflow?: string;
	last: string;
	changes: number;
}

/** The executions, workflows, users or keys with changes in the log, depending on what the node undoes. */
export async function searchCausers(this: ILoadOptionsFunctions, filter?: string): Promise<INodeListSearchResult> {
	const causerType = String(this.getCurrentNodeParameter('undoOf'));
	const ownOrigin = originOf(this.getInstanceId(), String(this.getWorkflow().id));
	const log = await openEventLog(await editorConnection(this));
	const found = new Map<string, Causer>();
	let read = 0;
	for await (const event of log.newestCauses(maxEvents)) {
		read++;
		const { origin, actor } = causeOf(event);
		const causer = causerType === 'actor'
			? actorNamed(actor)
			: origin?.instance === ownOrigin.instance ? causerOf(causerType, origin, ownOrigin) : undefined;
		if (!causer || !/\.(created|updated|deleted)$/.test(event.type)) continue;
		const entry = found.get(causer.value) ?? { ...causer, last: event.timestamp, changes: 0 };
		found.set(causer.value, { ...entry, changes: entry.changes + 1 });
	}
	const base = this.getInstanceBaseUrl();
	// The log continues after the events that were read.
	const atLeast = read === maxEvents ? 'at least ' : '';
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

type NamedCauser = Pick<Causer, 'value' | 'workflow' | 'url'>;

const actorNamed = (id: string | undefined): NamedCauser | undefined => (id === undefined ? undefined : { value: id });

function causerOf(causerType: string, { workflow, execution }: KeyOrigin, ownOrigin: KeyOrigin): NamedCauser | undefined {
	const isOwn = workflow === ownOrigin.workflow;
	if (causerType === 'workflow') return { value: workflow, workflow: isOwn ? 'this workflow' : 'another workflow of this n8n', url: `workflow/${workflow}` };
	// Without an execution, several executions share the write (Write Once Per).
	if (execution === undefined) return undefined;
	return { value: execution, workflow: isOwn ? 'this workflow' : `workflow ${workflow}`, url: `workflow/${workflow}/executions/${execution}` };
}
