import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type { IDataObject } from 'n8n-workflow';
import { modulesFolder } from '../tools/link.ts';
import { installN8n } from '../tools/n8n.mjs';
import { time } from './measure.ts';

/** A way to find the changed records of two lists. */
type Compare = (source: IDataObject[], stored: IDataObject[]) => Promise<number>;

/** n8n's node Compare Datasets, of the n8n that `npm start` runs. */
export async function compareDatasets(key: string): Promise<Compare> {
	const nodes = join(await installN8n(), 'node_modules', 'n8n-nodes-base', 'dist', 'nodes');
	const load = createRequire(join(nodes, 'CompareDatasets', 'CompareDatasets.node.js'));
	const { CompareDatasets } = load('./CompareDatasets.node.js') as {
		CompareDatasets: new () => { execute(): Promise<unknown[][]> };
	};
	const parameters: Record<string, unknown> = {
		'mergeByFields.values': [{ field1: key, field2: key }],
		options: {},
		resolve: 'includeBoth',
	};
	return async (source, stored) => {
		const inputs = [source, stored].map((records) => records.map((json) => ({ json })));
		// The only parts of n8n that the node uses.
		const n8n = {
			getNodeParameter: (name: string, _item: number, otherwise: unknown) => parameters[name] ?? otherwise,
			getNode: () => ({ typeVersion: 2.3 }),
			getInputData: (input: number) => inputs[input],
		};
		const [, , different = []] = await new CompareDatasets().execute.call(n8n as never);
		return different.length;
	};
}

/** A function of the built package. */
type Part<Result = unknown> = (...values: unknown[]) => Result;

/** The comparison of CRM Platform Sync: an index by the key, and a plan. */
export function ourComparison(key: string, names: readonly string[]): Compare {
	const load = createRequire(resolve('package.json'));
	const built = (name: string) => load(join(modulesFolder, 'nodes', 'CrmPlatform', 'sync', name)) as Record<string, Part>;
	const { planChanges } = built('plan.js') as { planChanges: Part<Array<{ action: string }>> };
	const { indexRecords, comparison } = { ...built('matching.js'), ...built('compare.js') };
	const fields = names.map((name) => ({ name, path: [name], kind: 'text' as const }));
	const match = fields.filter(({ name }) => name === key);
	return async (source, stored) => {
		const records = source.map((values, item) => ({ item, values, keys: [String(values[key])], wasInCrm: false }));
		const planned = planChanges(records, indexRecords!(stored, match), {
			rules: {
				missingInCrm: 'create',
				differing: 'update',
				missingInSource: 'leave',
				bothChanged: 'conflict',
				checksVersions: false,
			},
			matchLabels: [key],
			compare: comparison!(fields),
			versionOf: () => undefined,
			changedAtOf: () => undefined,
		});
		return planned.filter(({ action }) => action === 'update').length;
	};
}

/**
 * @param count how many of the records have changed
 * @returns milliseconds
 */
export async function timeOf(compare: Compare, source: IDataObject[], stored: IDataObject[], count: number) {
	return await time(async () => {
		const found = await compare(source, stored);
		if (found !== count) throw new Error(`${found} of ${count} changes were found.`);
	});
}
