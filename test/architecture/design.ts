import type { Part } from './part.ts';
import { sandboxDesign } from './sandbox-design.ts';

/**
 * The arrows of the design. A file belongs to the first part that names it; a file of no part and
 * an import of no arrow are both errors. What is not in this list is imported by nobody: so it is
 * with test/, and so nodes/ and sandbox/ stay apart.
 */
export const design: Record<string, Part> = {
	entry: {
		files: ['nodes/CrmPlatform/*.node.ts'],
		imports: ['actionProperties', 'agent', 'approval', 'builders', 'execute', 'parameters', 'resources', 'pickers', 'sync', 'trigger', 'webhookTrigger', 'changeTrigger', 'n8n-workflow'],
	},
	actionProperties: {
		files: ['nodes/CrmPlatform/actionProperties.ts', 'nodes/CrmPlatform/sharedParameters.ts'],
		imports: [],
		types: ['model', 'n8n-workflow'],
	},
	builders: {
		files: ['nodes/CrmPlatform/builderHints.ts'],
		imports: ['parameters', 'resources'],
		types: ['model', 'n8n-workflow'],
	},
	execute: {
		files: ['nodes/CrmPlatform/execute.ts'],
		imports: ['values', 'parameters', 'resources', 'schedule', 'failure', 'output', 'toolAnswer', 'toolCall', 'reading', 'writing', 'base', 'http', 'api', 'n8n-workflow', 'node:crypto'],
		types: ['model'],
	},
	failure: {
		files: ['nodes/CrmPlatform/failure.ts'],
		imports: ['values', 'api', 'base', 'http', 'n8n-workflow'],
	},
	output: {
		files: ['nodes/CrmPlatform/output.ts'],
		imports: ['failure', 'files', 'api'],
		types: ['model', 'n8n-workflow'],
	},
	toolCall: {
		files: ['nodes/CrmPlatform/toolCalls/toolCall.ts', 'nodes/CrmPlatform/toolCalls/toolArguments.ts'],
		imports: ['base', 'values', 'writing', 'api', 'n8n-workflow', 'node:crypto'],
		types: ['http'],
	},
	// What the node answers a model.
	toolAnswer: {
		files: ['nodes/CrmPlatform/toolCalls/toolAnswer.ts'],
		imports: ['failure', 'parameters', 'toolCall', 'api', 'n8n-workflow'],
	},
	// The tools of CRM Platform Tools: what a model sends becomes an operation of the node.
	agent: {
		files: ['nodes/CrmPlatform/agent/*.ts'],
		imports: ['values', 'resources', 'actionProperties', 'failure', 'toolAnswer', 'toolCall', 'parameters', 'writing', 'reading', 'mapping', 'lookUp', 'files', 'api', 'lists', 'base', 'http', 'openapi', 'fields', 'n8n-workflow', 'zod', 'node:crypto'],
		types: ['model'],
	},
	schedule: {
		files: ['nodes/CrmPlatform/schedule.ts'],
		imports: [],
		types: ['model'],
	},
	resources: {
		files: ['nodes/CrmPlatform/resources/*.ts'],
		imports: ['operations', 'parameters'],
		types: ['model'],
	},
	// JSON, members of objects, numbers, digests, clocks: what every other part may use.
	base: {
		files: ['nodes/CrmPlatform/base/*.ts'],
		imports: ['n8n-workflow', 'node:crypto'],
	},
	// What a value means by itself: no field, no record and no service is needed to say it.
	values: {
		files: ['nodes/CrmPlatform/values/*.ts'],
		imports: ['base', 'luxon'],
	},
	// The kinds of fields, and what their values mean.
	fields: {
		files: ['nodes/CrmPlatform/fields/*.ts'],
		imports: ['values', 'base', 'n8n-workflow', 'luxon'],
	},
	operations: {
		files: ['nodes/CrmPlatform/operations/*.ts'],
		imports: ['values', 'parameters', 'approval', 'toolCall', 'undo', 'writing', 'reading', 'mapping', 'expressions', 'files', 'api', 'lists', 'base', 'http', 'openapi', 'fields', 'n8n-workflow', 'node:crypto'],
		types: ['model'],
	},
	// Send and Wait for Approval: what is asked, and what the CRM answers.
	approval: {
		files: ['nodes/CrmPlatform/approval/*.ts'],
		imports: ['values', 'writing', 'mapping', 'lookUp', 'api', 'lists', 'base', 'http', 'openapi', 'fields', 'n8n-workflow', 'zod', 'luxon', 'node:crypto'],
		types: ['model'],
	},
	undo: {
		files: ['nodes/CrmPlatform/undo/*.ts'],
		imports: ['values', 'parameters', 'schedule', 'writing', 'mapping', 'lookUp', 'api', 'base', 'http', 'openapi', 'fields', 'n8n-workflow', 'node:crypto'],
		types: ['model'],
	},
	sync: {
		files: ['nodes/CrmPlatform/sync/*.ts'],
		imports: ['values', 'resources', 'actionProperties', 'schedule', 'failure', 'parameters', 'writing', 'mapping', 'lookUp', 'expressions', 'api', 'lists', 'base', 'http', 'openapi', 'fields', 'n8n-workflow', 'node:crypto'],
		types: ['model'],
	},
	writing: {
		files: ['nodes/CrmPlatform/writing/*.ts'],
		imports: ['values', 'parameters', 'mapping', 'expressions', 'files', 'api', 'base', 'http', 'openapi', 'fields', 'n8n-workflow'],
		types: ['model'],
	},
	reading: {
		files: ['nodes/CrmPlatform/reading/*.ts'],
		imports: ['values', 'parameters', 'mapping', 'lookUp', 'expressions', 'api', 'lists', 'base', 'http', 'openapi', 'fields', 'n8n-workflow', 'node:crypto'],
		types: ['model'],
	},
	parameters: {
		files: ['nodes/CrmPlatform/parameters/*.ts'],
		imports: ['values', 'mapping', 'lookUp', 'files', 'api', 'base', 'http', 'openapi', 'fields', 'contract', 'n8n-workflow'],
		types: ['model'],
	},
	// Records by a value or a name, and the parts of records.
	lookUp: {
		files: ['nodes/CrmPlatform/lookUp/*.ts'],
		imports: ['values', 'api', 'lists', 'base', 'http', 'openapi', 'fields', 'n8n-workflow'],
	},
	mapping: {
		files: ['nodes/CrmPlatform/mapping/*.ts'],
		imports: ['values', 'expressions', 'lookUp', 'api', 'lists', 'base', 'http', 'openapi', 'fields', 'n8n-workflow', 'luxon'],
		types: ['model'],
	},
	expressions: {
		files: ['nodes/CrmPlatform/mapping/expressions/*.ts'],
		imports: ['base', 'n8n-workflow'],
	},
	files: {
		files: ['nodes/CrmPlatform/files/*.ts'],
		imports: ['values', 'base', 'n8n-workflow'],
	},
	pickers: {
		files: ['nodes/CrmPlatform/pickers/*.ts'],
		imports: ['resources', 'lookUp', 'api', 'lists', 'base', 'http', 'openapi', 'fields', 'n8n-workflow'],
		types: ['model'],
	},
	webhookTrigger: {
		files: ['nodes/CrmPlatform/trigger/webhook/*.ts'],
		imports: ['values', 'trigger', 'api', 'lists', 'base', 'http', 'openapi', 'fields', 'n8n-workflow', 'zod', 'node:crypto'],
	},
	changeTrigger: {
		files: ['nodes/CrmPlatform/trigger/changes/*.ts'],
		imports: ['values', 'trigger', 'resources', 'parameters', 'reading', 'mapping', 'api', 'lists', 'base', 'http', 'openapi', 'fields', 'n8n-workflow', 'zod', 'luxon', 'node:crypto'],
		types: ['model'],
	},
	trigger: {
		files: ['nodes/CrmPlatform/trigger/*.ts'],
		imports: ['values', 'api', 'lists', 'base', 'http', 'openapi', 'fields', 'n8n-workflow', 'zod', 'node:crypto'],
		types: ['model'],
	},
	model: {
		files: ['nodes/CrmPlatform/model.ts'],
		imports: [],
		types: ['files', 'api', 'base', 'http', 'openapi', 'n8n-workflow'],
	},
	api: {
		files: ['nodes/CrmPlatform/api/*.ts'],
		imports: ['values', 'lists', 'openapi', 'fields', 'base', 'http', 'n8n-workflow', 'zod', 'node:crypto'],
	},
	lists: {
		files: ['nodes/CrmPlatform/api/lists/*.ts'],
		imports: ['openapi', 'fields', 'base', 'http', 'n8n-workflow', 'zod', 'node:crypto'],
	},
	openapi: {
		files: ['nodes/CrmPlatform/api/openapi/*.ts'],
		imports: ['fields', 'base', 'http', 'contract', 'zod'],
	},
	http: {
		files: ['nodes/CrmPlatform/api/http/*.ts'],
		imports: ['base', 'n8n-workflow', 'zod', 'luxon', 'node:crypto'],
	},
	credentials: {
		files: ['credentials/*.ts'],
		imports: ['api', 'base', 'http', 'contract', 'n8n-workflow'],
	},
	contract: {
		files: ['contract/*.json'],
		imports: [],
	},
	...sandboxDesign,
	tools: {
		files: ['tools/**'],
		imports: ['typescript', '@rollup/wasm-node', 'zod', 'node:**'],
		types: ['n8n-core', 'n8n-workflow'],
	},
	demo: {
		files: ['demo/**'],
		imports: ['tools', 'sandbox', 'sandbox/**', 'flatted', 'get-port', 'zod', 'node:**'],
		types: ['n8n-workflow'],
	},
	// What is measured runs in processes of its own, triggers in the n8n of the demo; the bare loop of
	// inserts borrows the sandbox's schemas and tables. What is simulated comes from the built package.
	bench: {
		files: ['bench/**'],
		imports: ['tools', 'demo', 'sandbox', 'sandbox/**', 'node:**'],
		types: ['base', 'http', 'n8n-workflow'],
	},
	test: {
		files: ['test/**'],
		imports: ['**'],
	},
};
