import type { IDataObject, IExecuteFunctions, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { CrmPlatformSync } from '../../nodes/CrmPlatform/CrmPlatformSync.node';
import { contextIn, type Setup } from './node-context.ts';
import { parts } from './node-runs.ts';
import { filterRows } from './parameters.ts';
import type { TestSandbox } from './sandbox.ts';

const outputs = ['created', 'updated', 'deleted', 'conflict', 'unchanged'] as const;
/** The order in which tests count the outputs. */
const counted = ['created', 'updated', 'unchanged', 'deleted', 'conflict'] as const;

/** The items of each output of CRM Platform Sync, and its hints. */
export type SyncRun = Record<(typeof outputs)[number], INodeExecutionData[]> & { hints: string[] };

const syncParts = { ...parts, node: new CrmPlatformSync() };

/** Runs CRM Platform Sync in n8n-core's own execution context. */
export async function runSync(setup: Setup): Promise<SyncRun> {
	const { context } = contextIn(syncParts, setup);
	const items = await syncParts.node.execute.call(context as unknown as IExecuteFunctions);
	const named = Object.fromEntries(outputs.map((name, i) => [name, items[i] ?? []]));
	return { ...named, hints: context.hints.map(({ message }) => message) } as SyncRun;
}

/** The parameters of a sync that takes its items as they are. */
export const syncOf = (resource: string, more: IDataObject = {}): INodeParameters => ({
	authentication: 'apiKey',
	resource,
	operation: 'upsert',
	matchOn: 'external_id',
	alsoMatchOn: '',
	fieldsMode: 'automatic',
	filters: {},
	missingInCrm: 'create',
	differing: 'update',
	missingInSource: 'leave',
	maxDeletions: 100,
	maxDeletionsShare: 10,
	versionField: '',
	bothChanged: 'conflict',
	changedAtField: '',
	preview: false,
	options: {},
	...more,
});

/** The node's report about an item. */
export const syncIn = ({ json }: INodeExecutionData) =>
	json.sync as { action: string; changes: IDataObject[]; reason: string | null };

let teams = 0;

/** Contacts that belong to one test, which their job title distinguishes from others. */
export const teamsIn = (sandbox: TestSandbox) => ({
	run: async (items: IDataObject[], more: IDataObject = {}, setup = {}) =>
		await runSync({ credential: sandbox.credential, parameters: syncOf('contact', more), items, ...setup }),

	/** The number of items of each output. */
	counts: (run: SyncRun) => counted.map((name) => run[name].length),

	/** The records of the source, and the filter that has their team in scope. */
	newTeam(count: number, more: IDataObject = {}) {
		const team = `team-${++teams}`;
		const records = Array.from({ length: count }, (_, i) => ({
			external_id: `${team}-${i}`,
			email: `${team}-${i}@source.example`,
			last_name: `Name ${i}`,
			job_title: team,
			...more,
		}));
		return { team, records, filters: filterRows({ job_title: team }) };
	},

	/** Creates the records, in the CRM. */
	async add(records: IDataObject[]) {
		const { body } = await sandbox.call('POST', '/v1/contacts/batch/create', { items: records });
		return (body.results as Array<{ data: IDataObject }>).map(({ data }) => data);
	},

	listed: async (team: string) =>
		await sandbox.list(`contacts?job_title=${team}&limit=500`),

	writes: sandbox.writes,

	change: async (id: unknown, body: IDataObject) =>
		(await sandbox.call('PATCH', `/v1/contacts/${String(id)}`, body)).body,
});
