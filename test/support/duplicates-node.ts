import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { CrmPlatformDuplicates } from '../../nodes/CrmPlatform/CrmPlatformDuplicates.node';
import { runIn, type Setup } from './node-context.ts';
import { parts } from './node-runs.ts';
import { filterRows } from './parameters.ts';

const duplicatesParts = { ...parts, node: new CrmPlatformDuplicates() };

let executions = 0;

/** Runs CRM Platform Duplicates in n8n-core's own execution context. */
export function duplicatesOf(service: Readonly<Pick<Setup, 'credential'>>, resource = 'contact', more: IDataObject = {}) {
	const runWith = async (parameters: object, items: IDataObject[], setup: Partial<Setup> = {}) => {
		const done = await runIn(duplicatesParts, { credential: service.credential, parameters: { authentication: 'apiKey', resource, options: {}, ...more, ...parameters } as INodeParameters, items, executionId: `merge-${++executions}`, ...setup });
		return { items: done.items.map(({ json }) => json), hints: done.hints };
	};
	return {
		find: async (sameFields: string[], filters: IDataObject = {}) => await runWith({ operation: 'find', sameFields, filters: filterRows(filters) }, [{}]),
		merge: async (groups: unknown[], parameters: IDataObject = {}, setup: Partial<Setup> = {}) =>
			await runWith(
				{ operation: 'merge', preview: false, ids: '={{ $json.ids }}', survivor: 'oldest', survivorId: '', fieldRules: {}, maxDeletions: 100, ...parameters },
				groups.map((ids) => ({ ids })) as IDataObject[],
				setup,
			),
	};
}
