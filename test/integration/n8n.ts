import { randomUUID } from 'node:crypto';

import { ExecuteContext, LoadOptionsContext } from 'n8n-core';
import {
	createRunExecutionData,
	NodeOperationError,
	Workflow,
	type ICredentialDataDecryptedObject,
	type ICredentialsHelper,
	type IDataObject,
	type IExecuteData,
	type IExecuteFunctions,
	type IHttpRequestOptions,
	type ILoadOptionsFunctions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeTypes,
	type ITaskDataConnections,
	type IWorkflowExecuteAdditionalData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

import { CrmPlatformApi } from '../../credentials/CrmPlatformApi.credentials';
import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';

/** A node in a workflow with nothing else in it. */
export interface Setup {
	/** What the user entered in the credential with the API key, or the one they connected. */
	credential: { baseUrl: string; apiKey: string; descriptionUrl?: string } | StoredOAuth2;
	parameters: INodeParameters;
	items?: IDataObject[];
	/** IANA time zone of the workflow. */
	timezone?: string;
	continueOnFail?: boolean;
	/** A new one for each run unless given. */
	executionId?: string;
	runIndex?: number;
	abort?: AbortSignal;
	/** How the execution was started; by hand unless given. */
	mode?: WorkflowExecuteMode;
	/** What n8n keeps for the workflow; written to as by an execution. */
	staticData?: IDataObject;
	/** What the user calls the node. */
	name?: string;
}

/** An OAuth2 credential as n8n keeps it; refreshed tokens are written into it. */
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

/** Runs the node in n8n-core's own execution context. */
export async function run(setup: Setup): Promise<Run> {
	const { context, counted } = executeContext(setup);
	const [items = []] = await new CrmPlatform().execute.call(
		context as unknown as IExecuteFunctions,
	);
	return { items, hints: context.hints.map(({ message }) => message), ...counted };
}

/** What the node fails with. */
export async function failure(setup: Setup): Promise<NodeOperationError> {
	const outcome: unknown = await run(setup).catch((error: unknown) => error);
	if (outcome instanceof NodeOperationError) return outcome;
	throw new Error('The node did not fail as a node does', { cause: outcome });
}

/** Calls what fills a list or mapper of an opened node, as n8n does. */
export async function picker<Arguments extends unknown[], Result>(
	method: (this: ILoadOptionsFunctions, ...rest: Arguments) => Promise<Result>,
	setup: Setup,
	...rest: Arguments
): Promise<Result> {
	const { workflow, node, additionalData } = workflowOf(setup);
	const context = new LoadOptionsContext(workflow, node, additionalData, '');
	return await method.call(context as unknown as ILoadOptionsFunctions, ...rest);
}

/** The context in which n8n runs the node. */
export function executeContext(setup: Setup): {
	context: ExecuteContext;
	counted: { decryptions: number };
} {
	const { workflow, node, additionalData, counted } = workflowOf(setup);
	const items = (setup.items ?? [{}]).map((json, item) => ({ json, pairedItem: { item } }));
	const input: ITaskDataConnections = { main: [items] };
	const executeData: IExecuteData = { node, data: input, source: null };
	const context = new ExecuteContext(
		workflow,
		node,
		additionalData,
		setup.mode ?? 'manual',
		createRunExecutionData(),
		setup.runIndex ?? 0,
		items,
		input,
		executeData,
		[],
		setup.abort,
	);
	return { context, counted };
}

function workflowOf(setup: Setup) {
	const { credential, parameters, timezone, continueOnFail, executionId } = setup;
	const type = new CrmPlatform();
	const stored = 'data' in credential ? credential : undefined;
	const node: INode = {
		id: 'node-1',
		name: setup.name ?? 'CRM Platform',
		type: 'n8n-nodes-crm-platform.crmPlatform',
		typeVersion: 1,
		position: [0, 0],
		parameters: stored ? { ...parameters, authentication: 'oAuth2' } : parameters,
		credentials: stored
			? { crmPlatformOAuth2Api: { id: stored.id, name: 'Test' } }
			: { crmPlatformApi: { id: 'credential-1', name: 'Test' } },
		...(continueOnFail && { onError: 'continueRegularOutput' }),
	};
	const nodeTypes = {
		getByName: () => type,
		getByNameAndVersion: () => type,
		getKnownTypes: () => ({}),
	} as INodeTypes;
	const workflow = new Workflow({
		id: 'workflow-1',
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes,
		settings: { timezone: timezone ?? 'UTC' },
		...(setup.staticData && { staticData: setup.staticData }),
	});
	const counted = { decryptions: 0 };
	const additionalData = additionalDataOf(credential, node.parameters, executionId, counted);
	return { workflow, node, additionalData, counted };
}

/** What n8n brings to a workflow: credentials above all. */
export function additionalDataOf(
	credential: Setup['credential'],
	parameters: INodeParameters,
	executionId?: string,
	counted = { decryptions: 0 },
): IWorkflowExecuteAdditionalData {
	const stored = 'data' in credential ? credential : undefined;
	const credentialsHelper = {
		getParentTypes: () => (stored ? ['oAuth2Api'] : []),
		isCredentialUsableByNode: () => true,
		getDecrypted: async () => {
			counted.decryptions += 1;
			return { ...(stored?.data ?? credential) };
		},
		updateCredentialsOauthTokenData: async (...[, , data]: [unknown, unknown, IDataObject]) => {
			// A database takes its time.
			await new Promise((resolve) => setImmediate(resolve));
			stored!.data.oauthTokenData = data.oauthTokenData as IDataObject;
		},
		runPreAuthentication: async () => undefined,
		preAuthentication: async () => undefined,
		authenticate: async (data: IDataObject, _type: string, request: IHttpRequestOptions) =>
			await new CrmPlatformApi().authenticate(data as ICredentialDataDecryptedObject, request),
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
