import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type {
	Expression as ExpressionClass,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeParameters,
	Workflow,
} from 'n8n-workflow';
import { withBuiltPackage } from '../tools/build.ts';
import { contextIn, type Parts, runIn } from '../test/support/node-context.ts';

/** The connector as n8n runs it: the built package in n8n-core's own execution context. */
interface Connector {
	/** @returns all contacts */
	contacts(reading?: Reading): Promise<INodeExecutionData[]>;
	/** @param fields how the items are mapped */
	create(items: IDataObject[], fields: IDataObject, engine?: ExpressionEngine): Promise<INodeExecutionData[]>;
	/** Undoes the changes of an execution since a time. */
	undo(execution: string, since: string): Promise<INodeExecutionData[]>;
	/** Syncs contacts with the items. @returns the number of items of each output */
	sync(items: IDataObject[], more: IDataObject): Promise<number[]>;
	/** Runs a node of the package by its name, by default the action node, or another one. */
	run(parameters: IDataObject, items?: IDataObject[], node?: string | Parts['node']): Promise<INodeExecutionData[]>;
}

/** The engine with which n8n evaluates expressions: by default `vm`, in an isolate. */
export type ExpressionEngine = 'legacy' | 'vm';

export interface Reading {
	/** Whether records have their main fields only, which is the default. */
	simplify?: boolean;
	/** The user's Options. */
	options?: IDataObject;
}

/** The instance id of the n8n that runs the connector. */
export const instanceId = (): string =>
	contextIn(connectorParts(), { credential: { baseUrl: '', apiKey: '' }, parameters: {} }).context.getInstanceId();

/** Maps the input's values automatically. */
export const automatic = {
	mappingMode: 'autoMapInputData',
	value: null,
	matchingColumns: [],
	schema: [],
};

/** Maps each field by hand, with a plain value or an expression. */
export const mapped = (value: Record<string, string>) => ({
	...automatic,
	mappingMode: 'defineBelow',
	value,
});

/** @param baseUrl of the service, as in the credential */
export function connectorTo(baseUrl: string): Connector {
	const credential = { baseUrl, apiKey: 'KEY' };
	const run: Connector['run'] = async (parameters, items, node = 'CrmPlatform') =>
		(await runIn({ ...connectorParts(), node: typeof node === 'string' ? nodeNamed(node) : node }, { credential, parameters: parameters as INodeParameters, ...(items && { items }) })).items;
	return {
		run,
		contacts: ({ simplify = true, options = {} } = {}) =>
			run({
				resource: 'contact',
				operation: 'getMany',
				returnAll: true,
				simplify,
				options,
			}),
		async create(items, fields, engine = 'legacy') {
			const parameters = { resource: 'contact', operation: 'create', fields: fields as INodeParameters };
			const setup = { credential, parameters, items };
			await useEngine(engine);
			const { context } = contextIn(connectorParts(), setup);
			const { workflow } = context as unknown as { workflow: Workflow };
			return await workflow.expression.withIsolate(async () => {
				const output = await connectorParts().node.execute!.call(context as unknown as IExecuteFunctions);
				return (output as INodeExecutionData[][])[0] ?? [];
			});
		},
		undo: (execution, since) =>
			run({
				...{ resource: 'change', operation: 'undo', preview: false, undoOf: 'execution', since },
				undoId: { __rl: true, mode: 'id', value: execution },
				options: { maxUndone: 1_000_000 },
			}),
		async sync(items, more) {
			const parameters = {
				...{ resource: 'contact', operation: 'upsert', matchOn: 'external_id', fields: automatic },
				...{ options: {}, ...more },
			} as INodeParameters;
			const setup = { credential, parameters, items };
			const node = nodeNamed('CrmPlatformSync');
			const { context } = contextIn({ ...connectorParts(), node }, setup);
			const outputs = await node.execute!.call(context as unknown as IExecuteFunctions);
			return (outputs as INodeExecutionData[][]).map(({ length }) => length);
		},
	};
}

/** Compiles the package before it is measured, unless it was compiled from the same sources. */
export const buildConnector = async () => await withBuiltPackage(async () => {}, true);

async function useEngine(engine: ExpressionEngine): Promise<void> {
	const { Expression } = createRequire(resolve('package.json'))('n8n-workflow') as {
		Expression: typeof ExpressionClass;
	};
	// The defaults of n8n 2.41.
	const limits = { poolSize: 1, maxCodeCacheSize: 1024, bridgeTimeout: 5_000, bridgeMemoryLimit: 128 };
	await Expression.initExpressionEngine({ engine, ...limits });
	Expression.setExpressionEngine(engine);
}

let loaded: Parts | undefined;

/** n8n-core and the built connector. */
export function connectorParts(): Parts {
	if (loaded) return loaded;
	// n8n-core writes into the user's home by default, and reads this variable when it loads.
	process.env['N8N_USER_FOLDER'] ??= join(process.cwd(), '.tmp', 'n8n-core-bench');
	process.env['N8N_ENCRYPTION_KEY'] ??= 'benchmark';
	process.env['N8N_LOG_LEVEL'] ??= 'silent';
	const load = createRequire(resolve('package.json')) as (name: string) => unknown;
	const built = (...path: string[]) => load(resolve('dist', ...path));
	const { CrmPlatformApi } = built('credentials', 'CrmPlatformApi.credentials.js') as {
		CrmPlatformApi: new () => Parts['apiKeyCredential'];
	};
	loaded = {
		...(load('n8n-core') as Pick<Parts, 'ExecuteContext'>),
		...(load('n8n-workflow') as Pick<Parts, 'Workflow' | 'createRunExecutionData'>),
		node: nodeNamed('CrmPlatform'),
		apiKeyCredential: new CrmPlatformApi(),
	};
	return loaded;
}

const nodes = new Map<string, Parts['node']>();

function nodeNamed(name: string): Parts['node'] {
	const load = createRequire(resolve('package.json')) as (file: string) => Record<string, new () => Parts['node']>;
	const node = nodes.get(name) ?? new (load(resolve('dist', 'nodes', 'CrmPlatform', `${name}.node.js`))[name]!)();
	nodes.set(name, node);
	return node;
}
