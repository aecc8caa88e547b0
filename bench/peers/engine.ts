import { createRequire } from 'node:module';
import { join } from 'node:path';
import type {
	ExecutionError,
	ICredentialsHelper,
	IDataObject,
	INode,
	INodeExecutionData,
	INodeType,
	INodeTypes,
	IRun,
	IRunExecutionData,
	IVersionedNodeType,
	IWorkflowExecuteAdditionalData,
	Workflow,
} from 'n8n-workflow';
import type { Peer, PeerTask } from './subjects.ts';

/** How a run of a node ended. */
interface Ended {
	items: INodeExecutionData[];
	error?: ExecutionError;
}

/** Runs nodes as n8n does. */
interface Engine {
	/** Loads a node's class and its credential's, as n8n does when it first meets them. */
	load(peer: Peer): Loaded;
}

interface Loaded {
	run(task: PeerTask, items: IDataObject[]): Promise<Ended>;
}

/** Classes of the n8n in the machine's cache; we do not depend on its types. */
interface Core {
	WorkflowExecute: new (
		additionalData: IWorkflowExecuteAdditionalData,
		mode: string,
		data: IRunExecutionData,
	) => { processRunExecutionData(workflow: Workflow): Promise<IRun> };
	ExecutionLifecycleHooks: new (mode: string, id: string, workflow: object) => unknown;
}

interface WorkflowPackage {
	Workflow: new (definition: object) => Workflow;
	createRunExecutionData(data: object): IRunExecutionData;
	NodeHelpers: { getVersionedNodeType(type: unknown, version: number): INodeType };
}

/**
 * n8n-core's engine, which runs a workflow of one node. Signing requests is n8n's own code; only
 * reading the credential from the database is left out, which n8n's nodes do once per request.
 *
 * @param n8n the folder in which n8n is installed
 * @param ours the folder of the built package
 */
export function loadEngine(n8n: string, ours: string): Engine {
	const load = createRequire(join(n8n, 'package.json')) as (name: string) => unknown;
	load('reflect-metadata');
	const core = load('n8n-core') as Core;
	const workflow = load('n8n-workflow') as WorkflowPackage;
	const { CredentialsHelper } = load('n8n/dist/credentials-helper.js') as {
		CredentialsHelper: { prototype: Record<'authenticate' | 'resolveValue', unknown> };
	};
	const { authenticate, resolveValue } = CredentialsHelper.prototype;

	const classOf = (file: string, name: string) =>
		new (load(file) as Record<string, new () => unknown>)[name]!();
	const loadNode = ({ file, className }: Peer) =>
		classOf(
			file
				? `n8n-nodes-base/dist/nodes/${file}`
				: join(ours, 'dist', 'nodes', className, `${className}.node.js`),
			className,
		) as INodeType | IVersionedNodeType;
	const loadCredential = ({ credential: { file, className } }: Peer) =>
		classOf(
			file
				? `n8n-nodes-base/dist/credentials/${file}.credentials.js`
				: join(ours, 'dist', 'credentials', `${className}.credentials.js`),
			className,
		);

	return {
		load(peer) {
			const type = workflow.NodeHelpers.getVersionedNodeType(loadNode(peer), peer.typeVersion);
			const credentialType = loadCredential(peer);
			const credentialsHelper = {
				...{ authenticate, resolveValue },
				credentialTypes: { getByName: () => credentialType },
				getParentTypes: () => [],
				isCredentialUsableByNode: () => true,
				getDecrypted: () => Promise.resolve({ ...peer.credential.data }),
				preAuthentication: () => Promise.resolve(undefined),
				runPreAuthentication: () => Promise.resolve(undefined),
			} as unknown as ICredentialsHelper;
			return { run: (task, items) => runNode({ core, workflow, type, credentialsHelper, peer }, task, items) };
		},
	};
}

interface Parts {
	core: Core;
	workflow: WorkflowPackage;
	type: INodeType;
	credentialsHelper: ICredentialsHelper;
	peer: Peer;
}

async function runNode(parts: Parts, task: PeerTask, items: IDataObject[]): Promise<Ended> {
	const { core, workflow, type, credentialsHelper, peer } = parts;
	const node: INode = {
		...{ id: 'node', name: 'Node', type: peer.type, typeVersion: peer.typeVersion },
		position: [0, 0],
		parameters: peer.parameters[task],
		credentials: { [peer.credential.type]: { id: 'credential', name: 'Bench' } },
	};
	const nodeTypes = {
		getByName: () => type,
		getByNameAndVersion: () => type,
		getKnownTypes: () => ({}),
	} as INodeTypes;
	const definition = { id: 'bench', name: 'bench', nodes: [node], connections: {}, settings: {} };
	const started = new workflow.Workflow({ ...definition, active: false, nodeTypes });
	// n8n adds the defaults of missing parameters.
	const start = started.getNode('Node');
	const runData = workflow.createRunExecutionData({
		executionData: {
			nodeExecutionStack: [{ node: start, data: { main: [items.map((json) => ({ json }))] }, source: null }],
		},
	});
	const additionalData = {
		credentialsHelper,
		...{ executionId: 'bench', instanceBaseUrl: '', restApiUrl: '', variables: {} },
		...{ webhookWaitingBaseUrl: 'http://n8n.example/wait', formWaitingBaseUrl: 'http://n8n.example/form' },
		hooks: new core.ExecutionLifecycleHooks('trigger', 'bench', definition),
	} as unknown as IWorkflowExecuteAdditionalData;
	const execution = new core.WorkflowExecute(additionalData, 'trigger', runData);
	const run = await execution.processRunExecutionData(started);
	const { error, runData: results } = run.data.resultData;
	const [output] = results['Node']?.[0]?.data?.main ?? [];
	return { items: output ?? [], ...(error && { error }) };
}
