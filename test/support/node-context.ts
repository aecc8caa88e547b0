import { randomUUID } from 'node:crypto';

import type { ExecuteContext } from 'n8n-core';
import type {
	createRunExecutionData,
	IBinaryKeyData,
	ICredentialDataDecryptedObject,
	ICredentialsHelper,
	IDataObject,
	IExecuteData,
	IExecuteFunctions,
	IHttpRequestOptions,
	INode,
	INodeExecutionData,
	INodeParameters,
	INodeType,
	INodeTypes,
	IWorkflowExecuteAdditionalData,
	Workflow,
	WorkflowExecuteMode,
} from 'n8n-workflow';

/** The only node of a workflow, and how it is run. */
export interface Setup {
	/** The values of the API key credential, or the OAuth2 credential the user connected. */
	credential: { baseUrl: string; apiKey: string; descriptionUrl?: string } | StoredOAuth2;
	parameters: INodeParameters;
	items?: IDataObject[];
	/** Files of each item, by the name of their binary field. */
	files?: IBinaryKeyData;
	/** IANA time zone of the workflow. */
	timezone?: string;
	/** Whether On Error is Continue, perhaps with the output for errors. */
	continueOnFail?: boolean | 'errorOutput';
	/** The ID of the execution; by default a new one for each run. */
	executionId?: string;
	/** When n8n says that the execution began; by default it does not say. */
	started?: number;
	/** The number of the execution whose *Execute Workflow* started this one. */
	parentExecutionId?: string;
	runIndex?: number;
	abort?: AbortSignal;
	/** How the execution was started; by default by hand. */
	mode?: WorkflowExecuteMode;
	/** Whether the workflow is in production; it is unless the mode is manual. */
	active?: boolean;
	/** The workflow's static data, to which the run writes. */
	staticData?: IDataObject;
	/** The node's name in the workflow. */
	name?: string;
	/** Whether the node is its tool variant, which n8n derives for AI agents. */
	isTool?: boolean;
	/** The ID under which n8n stores the API key credential. */
	credentialId?: string;
	/** The node's context, which the attempts of Retry On Fail and a retried execution share. */
	context?: IDataObject;
	/** Connections: from each node to others. Other nodes than this one have the names of their types, without package. */
	flow?: Record<string, string[]>;
	/** Whether Retry On Fail is on; the caller makes the attempts. */
	retryOnFail?: boolean;
}

/** An OAuth2 credential as n8n stores it; refreshed tokens are written to it. */
export interface StoredOAuth2 {
	id: string;
	data: ICredentialDataDecryptedObject;
}

export interface Run {
	items: INodeExecutionData[];
	hints: string[];
	/** How often n8n decrypted the credential. */
	decryptions: number;
}

/**
 * n8n's classes, and the node and the credential, which n8n creates once when it loads a package. The caller
 * passes them: tests use the sources, the benchmark the built package, and Node.js can only `require`
 * n8n-workflow (its ES modules do not resolve).
 */
export interface Parts {
	ExecuteContext: typeof ExecuteContext;
	Workflow: typeof Workflow;
	createRunExecutionData: typeof createRunExecutionData;
	node: INodeType;
	apiKeyCredential: {
		authenticate(
			data: ICredentialDataDecryptedObject,
			request: IHttpRequestOptions,
		): Promise<IHttpRequestOptions>;
	};
}

/** Runs the node in n8n-core's own execution context. */
export async function runIn(parts: Parts, setup: Setup): Promise<Run> {
	const { context, counters } = contextIn(parts, setup);
	const output = await parts.node.execute!.call(context as unknown as IExecuteFunctions);
	const [items = []] = output as INodeExecutionData[][];
	return { items, hints: context.hints.map(({ message }) => message), ...counters };
}

/** The context in which n8n runs the node. */
export function contextIn(
	parts: Parts,
	setup: Setup,
): { context: ExecuteContext; counters: { decryptions: number } } {
	const { workflow, node, additionalData, counters } = workflowIn(parts, setup);
	const items = (setup.items ?? [{}]).map((json, item) => ({
		json,
		pairedItem: { item },
		...(setup.files && { binary: setup.files }),
	}));
	const input = { main: [items] };
	const executeData: IExecuteData = { node, data: input, source: null };
	const runData = parts.createRunExecutionData();
	const { started, parentExecutionId, mode = 'manual' } = setup;
	if (started !== undefined || parentExecutionId !== undefined) {
		runData.executionData!.runtimeData = {
			version: 1,
			establishedAt: started ?? 0,
			source: mode,
			...(parentExecutionId !== undefined && { parentExecutionId }),
		};
	}
	if (setup.context) runData.executionData!.contextData[`node:${node.name}`] = setup.context;
	const context = new parts.ExecuteContext(
		workflow,
		node,
		additionalData,
		setup.mode ?? 'manual',
		runData,
		setup.runIndex ?? 0,
		items,
		input,
		executeData,
		[],
		setup.abort,
	);
	return { context, counters };
}

/** A workflow of this node alone, with the services of n8n. */
export function workflowIn(parts: Parts, setup: Setup) {
	const { credential, parameters, timezone, continueOnFail, executionId } = setup;
	const stored = 'data' in credential ? credential : undefined;
	const node: INode = {
		id: 'node-1',
		name: setup.name ?? 'CRM Platform',
		type: `n8n-nodes-crm-platform.crmPlatform${setup.isTool ? 'Tool' : ''}`,
		typeVersion: 1,
		position: [0, 0],
		parameters: stored ? { ...parameters, authentication: 'oAuth2' } : parameters,
		credentials: stored
			? { crmPlatformOAuth2Api: { id: stored.id, name: 'Test' } }
			: { crmPlatformApi: { id: setup.credentialId ?? 'credential-1', name: 'Test' } },
		...(continueOnFail && { onError: continueOnFail === 'errorOutput' ? 'continueErrorOutput' : 'continueRegularOutput' }),
		...(setup.retryOnFail && { retryOnFail: true }),
	};
	const { flow = {} } = setup;
	const others = Object.keys(flow).filter((name) => name !== node.name);
	const workflow = new parts.Workflow({
		id: 'workflow-1',
		nodes: [node, ...others.map((name) => ({ ...node, id: name, name, type: `n8n-nodes-base.${name}` }))],
		connections: Object.fromEntries(Object.entries(flow).map(([name, nodes]) => [name, to(nodes)])),
		active: setup.active ?? (setup.mode ?? 'manual') !== 'manual',
		nodeTypes: nodeTypesOf(() => parts.node),
		settings: { timezone: timezone ?? 'UTC' },
		...(setup.staticData && { staticData: setup.staticData }),
	});
	const counters = { decryptions: 0 };
	const additionalData = additionalDataIn({ parts, credential, parameters: node.parameters, executionId, counters });
	return { workflow, node, additionalData, counters };
}

/** The types of nodes that n8n has loaded, by their names. */
export const nodeTypesOf = (typeOf: (name: string) => INodeType): INodeTypes => ({
	getByName: typeOf,
	getByNameAndVersion: typeOf,
	getKnownTypes: () => ({}),
});

const to = (nodes: string[]) => ({ main: [nodes.map((node) => ({ node, type: 'main' as const, index: 0 }))] });

interface AdditionalDataSetup {
	parts: Parts;
	credential: Setup['credential'];
	parameters: INodeParameters;
	/** By default a new one. */
	executionId?: string | undefined;
	/** Counts the decryptions of the credential. */
	counters?: { decryptions: number };
}

/** The services that n8n gives a workflow, above all credentials. */
export function additionalDataIn(setup: AdditionalDataSetup): IWorkflowExecuteAdditionalData {
	const { parts, credential, parameters, executionId, counters = { decryptions: 0 } } = setup;
	const stored = 'data' in credential ? credential : undefined;
	const credentialsHelper = {
		getParentTypes: () => (stored ? ['oAuth2Api'] : []),
		isCredentialUsableByNode: () => true,
		getDecrypted: async (...[, , , mode, executeData, , expressionResolveValues]: Parameters<ICredentialsHelper['getDecrypted']>) => {
			counters.decryptions += 1;
			const data: IDataObject = { ...(stored?.data ?? (credential as IDataObject)) };
			if (!expressionResolveValues || !Object.values(data).some((value) => String(value).startsWith('='))) return data;
			const { workflow, runExecutionData, runIndex, itemIndex, node, connectionInputData } = expressionResolveValues;
			return workflow.expression.getParameterValue(
				data as INodeParameters, runExecutionData, runIndex, itemIndex, node.name, connectionInputData, mode, {}, executeData,
			) as IDataObject;
		},
		updateCredentialsOauthTokenData: async (...[, , data]: [unknown, unknown, IDataObject]) => {
			// Asynchronous, as a database is.
			await new Promise((resolve) => setImmediate(resolve));
			stored!.data.oauthTokenData = data.oauthTokenData as IDataObject;
		},
		runPreAuthentication: async () => undefined,
		preAuthentication: async () => undefined,
		authenticate: async (data: IDataObject, _type: string, request: IHttpRequestOptions) =>
			await parts.apiKeyCredential.authenticate(data as ICredentialDataDecryptedObject, request),
	} as unknown as ICredentialsHelper;
	return {
		credentialsHelper,
		executionId: executionId ?? randomUUID(),
		instanceBaseUrl: '',
		currentNodeParameters: parameters,
		variables: {},
		webhookWaitingBaseUrl: 'http://localhost/webhook-waiting',
		formWaitingBaseUrl: 'http://localhost/form-waiting',
	} as unknown as IWorkflowExecuteAdditionalData;
}
