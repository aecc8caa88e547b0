/** A part of the repository: its files, and all it may import beside its own files. */
export interface Part {
	/** Paths from the root; a `*` stands for anything but a slash, `**` for anything. */
	files: string[];
	/** Names of other parts or of packages; `*` and `**` as in paths. */
	imports: string[];
	/** The same, for imports of nothing but types. */
	types?: string[];
}

/**
 * The arrows of the design. A file belongs to the first part that names it; a file of no part and
 * an import of no arrow are both errors. What is not in this list is imported by nobody: so it is
 * with test/, and so nodes/ and sandbox/ stay apart.
 */
export const design: Record<string, Part> = {
	entry: {
		files: ['nodes/CrmPlatform/*.node.ts'],
		imports: ['properties', 'execute', 'resources', 'pickers', 'trigger', 'n8n-workflow'],
	},
	properties: {
		files: ['nodes/CrmPlatform/properties.ts'],
		imports: [],
		types: ['model', 'n8n-workflow'],
	},
	execute: {
		files: ['nodes/CrmPlatform/execute.ts'],
		imports: ['resources', 'schedule', 'toolCall', 'api', 'n8n-workflow', 'node:crypto'],
		types: ['model'],
	},
	toolCall: {
		files: ['nodes/CrmPlatform/toolCall.ts'],
		imports: ['n8n-workflow', 'node:crypto'],
	},
	schedule: {
		files: ['nodes/CrmPlatform/schedule.ts'],
		imports: [],
		types: ['model'],
	},
	resources: {
		files: ['nodes/CrmPlatform/resources/*.ts'],
		imports: ['operations'],
		types: ['model'],
	},
	operations: {
		files: ['nodes/CrmPlatform/operations/*.ts'],
		imports: ['mapping', 'api', 'contract', 'n8n-workflow', 'node:crypto'],
		types: ['model'],
	},
	mapping: {
		files: ['nodes/CrmPlatform/mapping/*.ts'],
		imports: ['api', 'n8n-workflow', 'luxon'],
		types: ['model'],
	},
	pickers: {
		files: ['nodes/CrmPlatform/pickers/*.ts'],
		imports: ['resources', 'api', 'n8n-workflow'],
		types: ['model'],
	},
	trigger: {
		files: ['nodes/CrmPlatform/trigger/*.ts'],
		imports: ['api', 'n8n-workflow', 'zod', 'luxon', 'node:crypto'],
		types: ['model'],
	},
	model: {
		files: ['nodes/CrmPlatform/model.ts'],
		imports: [],
		types: ['api', 'n8n-workflow'],
	},
	api: {
		files: ['nodes/CrmPlatform/api/*.ts'],
		imports: ['contract', 'n8n-workflow', 'zod', 'luxon', 'node:crypto'],
	},
	credentials: {
		files: ['credentials/*.ts'],
		imports: ['api', 'contract', 'n8n-workflow'],
	},
	contract: {
		files: ['contract/*.json'],
		imports: [],
	},
	sandbox: {
		files: ['sandbox/**'],
		imports: ['hono', '@hono/node-server', 'zod', 'axios', 'ipaddr.js', 'standardwebhooks', 'node:**'],
	},
	tools: {
		files: ['tools/**'],
		imports: ['zod', 'node:**'],
		types: ['n8n-core', 'n8n-workflow'],
	},
	demo: {
		files: ['demo/**'],
		imports: ['tools', 'sandbox', 'flatted', 'zod', 'node:**'],
		types: ['n8n-workflow'],
	},
	// What is measured runs in processes of its own; the bare loop of inserts borrows the sandbox's
	// schemas and tables.
	bench: {
		files: ['bench/**'],
		imports: ['tools', 'sandbox', 'node:**'],
		types: ['n8n-workflow'],
	},
	test: {
		files: ['test/**'],
		imports: ['**'],
	},
};
