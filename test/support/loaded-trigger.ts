import { Workflow, type IDataObject, type INode, type INodeParameters, type INodeType } from 'n8n-workflow';

import { additionalDataIn, nodeTypesOf } from './node-context.ts';
import { parts, type Setup } from './node-runs.ts';

interface TriggerWorkflow {
	type: INodeType;
	credential: Setup['credential'];
	/** What the test chooses of the node. */
	node: Pick<INode, 'name' | 'typeVersion' | 'parameters'> & Partial<INode>;
	workflowId: string;
	isActive: boolean;
	staticData: IDataObject;
	timezone?: string;
}

/** A workflow of one trigger, as n8n loads it from its database, with the services that n8n gives it. */
export function loadTrigger({ type, credential, node: chosen, workflowId, isActive, staticData, timezone }: TriggerWorkflow) {
	const [authentication, credentials] =
		'data' in credential
			? ['oAuth2', { crmPlatformOAuth2Api: { id: credential.id, name: 'Test' } }]
			: ['apiKey', { crmPlatformApi: { id: 'credential-1', name: 'Test' } }];
	const parameters: INodeParameters = { authentication, ...chosen.parameters };
	const node: INode = {
		id: 'node-1',
		type: `n8n-nodes-crm-platform.${type.description.name}`,
		position: [0, 0],
		credentials: credentials,
		...chosen,
		parameters,
	};
	const workflow = new Workflow({
		id: workflowId,
		name: 'Welcome new contacts',
		nodes: [node],
		connections: {},
		active: isActive,
		nodeTypes: nodeTypesOf(() => type),
		staticData,
		...(timezone !== undefined && { settings: { timezone } }),
	});
	return { workflow, node, additionalData: additionalDataIn({ parts, credential, parameters }) };
}
