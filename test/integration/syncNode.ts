import type { IDataObject, IExecuteFunctions, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { CrmPlatformSync } from '../../nodes/CrmPlatform/CrmPlatformSync.node';
import { contextIn, type Setup } from '../../tools/node-context.ts';
import { parts } from './n8n.ts';

const outputs = ['created', 'updated', 'unchanged', 'deleted', 'conflict'] as const;

/** The items of each output of CRM Platform Sync, and what it tells the user. */
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
export const syncOf = (resource: string, more: IDataObject = {}): INodeParameters =>
	({
		authentication: 'apiKey',
		resource,
		operation: 'upsert',
		matchOn: 'external_id',
		alsoMatchOn: '',
		fieldsMode: 'each',
		fields: { mappingMode: 'autoMapInputData', value: null },
		scope: { mappingMode: 'defineBelow', value: null },
		missingInCrm: 'create',
		differing: 'update',
		missingInSource: 'leave',
		mostDeletions: 100,
		mostDeletionsShare: 10,
		versionField: '',
		bothChanged: 'conflict',
		changedAtField: '',
		preview: false,
		options: {},
		...more,
	}) as INodeParameters;

/** Filters of Records in Scope. */
export const scopeOf = (value: IDataObject): IDataObject => ({ mappingMode: 'defineBelow', value });

/** What the node says it did with an item. */
export const syncIn = ({ json }: INodeExecutionData) =>
	json.sync as { action: string; changes: IDataObject[]; reason: string | null };
