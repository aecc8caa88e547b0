import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { byId, mapped } from '../../support/parameters.ts';

/** A CRM Platform node of a workflow. Later nodes refer to it by its name. */
export interface ChainStep {
	name: string;
	resource: string;
	operation: string;
	parameters?: IDataObject;
}

/** Operations on a record, from its creation to its deletion. */
export interface Lifecycle {
	resource: string;
	steps: ChainStep[];
	/** Prepares the input of the first node. */
	input?: () => Promise<IDataObject[]>;
}

interface Plan {
	/** The values of a new record. */
	values: IDataObject;
	/** A field that is updated, with its new value. */
	changedValues: IDataObject;
	/** The field on which Create or Update matches, and its value. */
	match: IDataObject;
	/** The operation that creates it, if not Create. */
	createOperation?: string;
	tagged?: boolean;
	/** Operations that only this resource has, done between the update and the deletion. */
	ownOperations?: Array<{ operation: string; name?: string; parameters?: IDataObject }>;
	/** Parameters of every operation. */
	common?: IDataObject;
}

/** The ID of a record in the output of another node of the chain. */
export const idFrom = (name: string) => byId(`={{ $('${name}').first().json.id }}`);

/** The lifecycle of an ordinary record, with the operations that every record type has. */
export function lifecycleOf(resource: string, plan: Plan): Lifecycle {
	const { values, changedValues, match, createOperation = 'create', common = {} } = plan;
	const [matchOn] = Object.keys(match);
	const record = { recordId: idFrom(createOperation), ...common };
	const tagging = { resource: 'recordTag', parameters: { kind: resource, ...record, tagId: idFrom('tag') } };
	const newTag = { resource: 'tag', parameters: { fields: mapped({ name: randomUUID() }) } };
	const operations: Array<Partial<ChainStep> & Pick<ChainStep, 'operation'>> = [
		...(plan.tagged ? [{ ...newTag, operation: 'create', name: 'tag' }] : []),
		{ operation: createOperation, parameters: { fields: mapped({ ...values, ...match }), ...common } },
		{
			operation: 'upsert',
			parameters: { fields: mapped({ ...values, ...match }, { matchingColumns: [matchOn] }), ...common },
		},
		{ operation: 'get', parameters: { ...record, simplify: false } },
		{ operation: 'update', parameters: { ...record, fields: mapped(changedValues), simplify: false } },
		{ operation: 'getMany', parameters: { returnAll: false, limit: 1, simplify: true, ...common } },
		...(plan.tagged ? [{ operation: 'count', parameters: { groupBy: ['created_at:day'], ...common } }] : []),
		...fileSteps({ kind: resource, ...common }),
		...(plan.ownOperations ?? []).map(({ parameters, ...step }) => ({ ...step, parameters: { ...record, ...parameters } })),
		...(plan.tagged ? ['addTag', 'removeTag'] : []).map((operation) => ({ ...tagging, operation })),
		{ operation: 'delete', parameters: record },
	];
	return { resource, steps: operations.map((step) => ({ resource, ...step, name: step.name ?? step.operation })) };
}

/** Exports a list to a file, and imports the file. */
const fileSteps = (common: IDataObject): Array<Omit<ChainStep, 'name'>> => [
	{ resource: 'file', operation: 'exportFile', parameters: { fileFormat: 'ndjson', ...common } },
	{ resource: 'file', operation: 'importFile', parameters: { fileFormat: 'ndjson', importAs: 'update', preview: true, ...common } },
];
