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
import { buildPackage } from '../tools/build.ts';
import { contextIn, type Parts, runIn } from '../tools/node-context.ts';

/** The connector as n8n runs it: the built package in n8n-core's own execution context. */
export interface Connector {
	/** @returns the contacts there are, all of them */
	contacts(reading?: Reading): Promise<INodeExecutionData[]>;
	/** @param fields how the items are mapped */
	create(items: IDataObject[], fields: IDataObject, engine?: ExpressionEngine): Promise<INodeExecutionData[]>;
	/** Undoes what an execution has changed since a time. */
	undo(execution: string, since: string): Promise<INodeExecutionData[]>;
	/** Keeps contacts in step with the items. @returns how many items each output has */
	sync(items: IDataObject[], more: IDataObject): Promise<number[]>;
}

/** What n8n evaluates expressions with: `vm` by default, in an isolate of its own. */
export type ExpressionEngine = 'legacy' | 'vm';

export interface Reading {
	/** Whether records come with their main fields only, as by default. */
	simplify?: boolean;
	/** What a user adds under Options. */
	options?: IDataObject;
}

/** The id of the n8n that runs the connector. */
export const instanceId = (): string =>
	contextIn(connectorParts(), { credential: { baseUrl: '', apiKey: '' }, parameters: {} }).context.getInstanceId();

/** The input's own values are the fields. */
export const automatic = {
	mappingMode: 'autoMapInputData',
	value: null,
	matchingColumns: [],
	schema: [],
};

/** Every field by hand, plain or an expression. */
export const mapped = (value: Record<string, string>) => ({
	...automatic,
	mappingMode: 'defineBelow',
	value,
});

/** @param baseUrl of the service, as a user gives it in the credential */
export function connectorTo(baseUrl: string): Connector {
	const run = async (parameters: INodeParameters, items?: IDataObject[]) => {
		const credential = { baseUrl, apiKey: 'KEY' };
		return (await runIn(connectorParts(), { credential, parameters, ...(items && { items }) })).items;
	};
	return {
		contacts: ({ simplify = true, options = {} } = {}) =>
			run({
				resource: 'contact',
				operation: 'getMany',
				returnAll: true,
				simplify,
				options: options as INodeParameters,
			}),
		async create(items, fields, engine = 'legacy') {
			const parameters = { resource: 'contact', operation: 'create', fields: fields as INodeParameters };
			const setup = { credential: { baseUrl, apiKey: 'KEY' }, parameters, items };
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
			const setup = { credential: { baseUrl, apiKey: 'KEY' }, parameters, items };
			const { context } = contextIn({ ...connectorParts(), node: sync() }, setup);
			const outputs = await sync().execute!.call(context as unknown as IExecuteFunctions);
			return (outputs as INodeExecutionData[][]).map(({ length }) => length);
		},
	};
}

/** Compiles the package, once before it is measured. */
export const buildConnector = buildPackage;

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
	// n8n-core writes into the user's home unless told otherwise, and reads this when it loads.
	process.env['N8N_USER_FOLDER'] ??= join(process.cwd(), '.tmp', 'n8n-core-bench');
	process.env['N8N_ENCRYPTION_KEY'] ??= 'benchmark';
	process.env['N8N_LOG_LEVEL'] ??= 'silent';
	const load = createRequire(resolve('package.json')) as (name: string) => unknown;
	const built = (...path: string[]) => load(resolve('dist', ...path));
	const { CrmPlatform } = built('nodes', 'CrmPlatform', 'CrmPlatform.node.js') as {
		CrmPlatform: new () => Parts['node'];
	};
	const { CrmPlatformApi } = built('credentials', 'CrmPlatformApi.credentials.js') as {
		CrmPlatformApi: new () => Parts['apiKeyCredential'];
	};
	loaded = {
		...(load('n8n-core') as Pick<Parts, 'ExecuteContext'>),
		...(load('n8n-workflow') as Pick<Parts, 'Workflow' | 'createRunExecutionData'>),
		node: new CrmPlatform(),
		apiKeyCredential: new CrmPlatformApi(),
	};
	return loaded;
}

let syncNode: Parts['node'] | undefined;

function sync(): Parts['node'] {
	const load = createRequire(resolve('package.json')) as (name: string) => unknown;
	const built = load(resolve('dist', 'nodes', 'CrmPlatform', 'CrmPlatformSync.node.js')) as {
		CrmPlatformSync: new () => Parts['node'];
	};
	return (syncNode ??= new built.CrmPlatformSync());
}
