import { ExecuteContext, LoadOptionsContext } from 'n8n-core';
import {
	createRunExecutionData,
	NodeApiError,
	NodeOperationError,
	Workflow,
	type IDataObject,
	type ILoadOptionsFunctions,
	type INodeParameters,
	type INodeType,
} from 'n8n-workflow';

import { CrmPlatformApi } from '../../credentials/CrmPlatformApi.credentials';
import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { CrmPlatformAdmin } from '../../nodes/CrmPlatform/CrmPlatformAdmin.node';
import { adminMenu } from '../../nodes/CrmPlatform/resources';
import { contextIn, runIn, workflowIn, type Parts, type Run, type Setup } from './node-context.ts';

export type { Run, Setup, StoredOAuth2 } from './node-context.ts';

export const parts: Parts = {
	ExecuteContext,
	Workflow,
	createRunExecutionData,
	node: new CrmPlatform(),
	apiKeyCredential: new CrmPlatformApi(),
};

const admin = new CrmPlatformAdmin();

/** The node that has the resource in its menu: CRM Platform Admin, or else CRM Platform. */
const partsFor = ({ parameters }: Setup): Parts =>
	adminMenu.some(({ value }) => value === parameters.resource) ? { ...parts, node: admin } : parts;

/** Runs the node in n8n-core's own execution context. */
export const run = async (setup: Setup): Promise<Run> => await runIn(partsFor(setup), setup);

/** The context in which n8n runs the node. */
export const executeContext = (setup: Setup) => contextIn(partsFor(setup), setup);

/** Runs of the node with the credential of a service. */
export function nodeRuns(service: { readonly credential: Setup['credential'] }) {
	type Rest = [items?: IDataObject[], more?: Partial<Setup>];
	const setupOf = (parameters: object, ...[items = [{}], more]: Rest): Setup => ({
		credential: service.credential,
		parameters: parameters as INodeParameters,
		items,
		...more,
	});
	return {
		run: async (parameters: object, ...rest: Rest) => await run(setupOf(parameters, ...rest)),
		/** The JSON of the output items. */
		output: async (parameters: object, ...rest: Rest) => (await run(setupOf(parameters, ...rest))).items.map(({ json }) => json),
		failure: async (parameters: object, ...rest: Rest) => await failure(setupOf(parameters, ...rest)),
	};
}

/** Runs the node, which must fail. @returns its error */
export async function failure(setup: Setup): Promise<NodeApiError | NodeOperationError> {
	const outcome: unknown = await run(setup).catch((error: unknown) => error);
	if (outcome instanceof NodeApiError || outcome instanceof NodeOperationError) return outcome;
	throw new Error('The node did not fail as a node does', { cause: outcome });
}

interface OpenedNode {
	/** The parameter that the picker belongs to: `parameters.recordId`. */
	path?: string;
	/** Whether a credential is assigned to the node. */
	hasCredential?: boolean;
	/** The node that is open; by default the one that has the resource in its menu. */
	node?: INodeType;
}

/** Calls the function that fills a list or mapper of an opened node. */
export async function picker<Arguments extends unknown[], Result>(
	pick: (n8n: ILoadOptionsFunctions, ...rest: Arguments) => Promise<Result>,
	{ path = '', hasCredential = true, node: chosen, ...setup }: Setup & OpenedNode,
	...rest: Arguments
): Promise<Result> {
	const type = chosen ?? partsFor(setup).node;
	const { workflow, node, additionalData } = workflowIn({ ...parts, node: type }, setup);
	if (!hasCredential) delete node.credentials;
	const context = new LoadOptionsContext(workflow, node, additionalData, path);
	return await pick(context as unknown as ILoadOptionsFunctions, ...rest);
}
