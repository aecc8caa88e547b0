import type { IDataObject } from 'n8n-workflow';

import { CrmPlatformDuplicates } from '../../nodes/CrmPlatform/CrmPlatformDuplicates.node';
import { runIn, type Setup } from './node-context.ts';
import { parts } from './node-runs.ts';
import { filterRows } from './parameters.ts';

const duplicatesParts = { ...parts, node: new CrmPlatformDuplicates() };

let executions = 0;

/** Runs CRM Platform Duplicates in n8n-core's own execution context. */
export function duplicatesOf(service: Readonly<Pick<Setup, 'credential'>>, resource = 'contact', more: IDataObject = {}) {
	const runWith = async (parameters: object, items: IDataObject[], setup: Partial<Setup> = {}) => {
		const allParameters = { authentication: 'apiKey', resource, options: {}, ...more, ...parameters };
		const executionId = `merge-${++executions}`;
		const { credential } = service;
		const done = await runIn(duplicatesParts, { credential, parameters: allParameters, items, executionId, ...setup });
		return { items: done.items.map(({ json }) => json), hints: done.hints };
	};
	const ids = '={{ $json.ids }}';
	const mergeParameters = { operation: 'merge', preview: false, ids, survivor: 'oldest', survivorId: '', fieldRules: {} };
	return {
		find: async (sameFields: string[], filters: IDataObject = {}) =>
			await runWith({ operation: 'find', sameFields, filters: filterRows(filters) }, [{}]),
		merge: async (groups: unknown[], parameters: IDataObject = {}, setup: Partial<Setup> = {}) => {
			const items = groups.map((group) => ({ ids: group })) as IDataObject[];
			return await runWith({ ...mergeParameters, maxDeletions: 100, ...parameters }, items, setup);
		},
	};
}
