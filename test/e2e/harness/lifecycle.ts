import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import type { Link } from './chain.ts';
import { byId, mapped } from '../../integration/harness/parameters.ts';

/** What happens to one record, from its creation to its end. */
export interface Lifecycle {
	resource: string;
	links: Link[];
	/** Prepares what the first node gets. */
	input?: () => Promise<IDataObject[]>;
}

interface Plan {
	/** The values a new record is made of. */
	values: IDataObject;
	/** A field that may change, and its later value. */
	change: IDataObject;
	/** The field Create or Update matches on, and its value. */
	match: IDataObject;
	/** How it is created, where that is not called Create. */
	created?: string;
	tagged?: boolean;
	/** Operations of its own, between its change and its end. */
	between?: Array<{ operation: string; name?: string; parameters?: IDataObject }>;
	/** What every operation on it asks for. */
	common?: IDataObject;
}

/** The id of a record another node of the chain has put out. */
export const idFrom = (name: string) => byId(`={{ $('${name}').first().json.id }}`);

/** The life of an ordinary record, told by the operations every kind of record has. */
export function lifecycleOf(resource: string, plan: Plan): Lifecycle {
	const { values, change, match, created = 'create', common = {} } = plan;
	const [matchOn] = Object.keys(match);
	const record = { recordId: idFrom(created), ...common };
	const tag = { ...record, tagId: idFrom('tag') };
	const steps: Array<Partial<Link> & Pick<Link, 'operation'>> = [
		...(plan.tagged
			? [
					{
						operation: 'create',
						name: 'tag',
						resource: 'tag',
						parameters: { fields: mapped({ name: randomUUID() }) },
					},
				]
			: []),
		{ operation: created, parameters: { fields: mapped({ ...values, ...match }), ...common } },
		{
			operation: 'upsert',
			parameters: { fields: mapped({ ...values, ...match, ...change }, { matchingColumns: [matchOn] }), ...common },
		},
		{ operation: 'get', parameters: { ...record, simplify: false } },
		{ operation: 'update', parameters: { ...record, fields: mapped(change) } },
		{ operation: 'getMany', parameters: { returnAll: false, limit: 1, simplify: true, ...common } },
		...fileSteps({ kind: resource, ...common }),
		...(plan.between ?? []).map(({ parameters, ...step }) => ({
			...step,
			parameters: { ...record, ...parameters },
		})),
		...(plan.tagged
			? [
					{ resource: 'recordTag', operation: 'addTag', parameters: { kind: resource, ...tag } },
					{ resource: 'recordTag', operation: 'removeTag', parameters: { kind: resource, ...tag } },
				]
			: []),
		{ operation: 'delete', parameters: record },
	];
	const links = steps.map((step) => ({ resource, ...step, name: step.name ?? step.operation }));
	return { resource, links };
}

/** A list goes into a file, and the file is read again. */
const fileSteps = (common: IDataObject): Array<Omit<Link, 'name'>> => [
	{ resource: 'file', operation: 'exportFile', parameters: { fileFormat: 'ndjson', ...common } },
	{ resource: 'file', operation: 'importFile', parameters: { fileFormat: 'ndjson', importAs: 'update', preview: true, ...common } },
];
