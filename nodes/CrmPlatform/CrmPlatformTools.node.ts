import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type ISupplyDataFunctions,
	type SupplyData,
} from 'n8n-workflow';

import { credentials, icon } from './actionProperties';
import { editorMethods } from './pickers/editorMethods';
import { toolkitProperties } from './toolkit/toolkitSettings';
import { executeTool, supplyTools } from './toolkit/toolset';

export class CrmPlatformTools implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'CRM Platform AI Toolkit',
		name: 'crmPlatformTools',
		icon,
		group: ['output'],
		version: 1,
		subtitle: '={{ $parameter["writes"].length ? "read and write" + ($parameter["previewBeforeWriting"] ? ", asks first" : "") : "read" }}',
		description: 'Let an AI agent or an MCP client search, read, count and, where allowed, change the records of a CRM Platform account',
		defaults: { name: 'CRM Platform AI Toolkit' },
		inputs: [],
		outputs: [NodeConnectionTypes.AiTool],
		outputNames: ['Tools'],
		credentials,
		properties: toolkitProperties,
	};

	methods = editorMethods;

	async supplyData(this: ISupplyDataFunctions, itemIndex: number): Promise<SupplyData> {
		return await supplyTools(this, itemIndex);
	}

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await executeTool(this);
	}
}
