import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import type { Link } from './chain.ts';
import { byId, mapped } from '../../integration/harness/parameters.ts';

/** Operations on a record, from its creation to its deletion. */
export interface Lifecycle {
	resource: string;
	links: Link[];
	/** Prepares the input of the first node. */
	input?: () => Promise<IDataObject[]>;
}

interface Plan {
	/** The values of a new record. */
	values: IDataObject;
	/** A field that is updated, and its new value. */
	change: IDataObject;
	/** The field on which Create or Update matches, and its value. */
	match: IDataObject;
	/** The operation that creates it, if not Create. */
	created?: string;
	tagged?: boolean;
	/** Further operations, between the update and the deletion. */
	between?: Array<{ operation: string; name?: string; parameters?: IDataObject }>;
	/** Parameters of every operation. */
	common?: IDataObject;
}

/** The ID of a record in the output of another node of the chain. */
export const idFrom = (name: string) => byId(`={{ $('${name}').first().json.id }}`);

/** The lifecycle of an ordinary record, with the operations that every kind of record has. */
export function lifecycleOf(resource: string, plan: Plan): Lifecycle {
	const { values, change, match, created = 'create', common = {} } = plan;
	const [matchOn] = Object.keys(match);
	const record = { recordId: idFrom(created), ...common };
	const tagging = { resource: 'recordTag', parameters: { kind: resource, ...record, tagId: idFrom('tag') } };
	const newTag = { resource: 'tag', parameters: { fields: mapped({ name: randomUUID() }) } };
	const steps: Array<Partial<Link> & Pick<Link, 'operation'>> = [
		...(plan.tagged ? [{ ...newTag, operation: 'create', name: 'tag' }] : []),
		{ operation: created, parameters: { fields: mapped({ ...values, ...match }), ...common } },
		{
			operation: 'upsert',
			parameters: { fields: mapped({ ...values, ...match, ...change }, { matchingColumns: [matchOn] }), ...common },
		},
		{ operation: 'get', parameters: { ...record, simplify: false } },
		{ operation: 'update', parameters: { ...record, fields: mapped(change) } },
		{ operation: 'getMany', parameters: { returnAll: false, limit: 1, simplify: true, ...common } },
		...fileSteps({ kind: resource, ...common }),
		...(plan.between ?? []).map(({ parameters, ...step }) => ({ ...step, parameters: { ...record, ...parameters } })),
		...(plan.tagged ? ['addTag', 'removeTag'] : []).map((operation) => ({ ...tagging, operation })),
		{ operation: 'delete', parameters: record },
	];
	const links = steps.map((step) => ({ resource, ...step, name: step.name ?? step.operation }));
	return { resource, links };
}

/** Exports a list to a file, and imports the file. */
const fileSteps = (common: IDataObject): Array<Omit<Link, 'name'>> => [
	{ resource: 'file', operation: 'exportFile', parameters: { fileFormat: 'ndjson', ...common } },
	{ resource: 'file', operation: 'importFile', parameters: { fileFormat: 'ndjson', importAs: 'update', preview: true, ...common } },
];
