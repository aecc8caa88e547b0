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
		imports: ['properties', 'execute', 'resources', 'pickers', 'trigger', 'webhookTrigger', 'pollTrigger', 'n8n-workflow'],
	},
	properties: {
		files: ['nodes/CrmPlatform/properties.ts'],
		imports: [],
		types: ['model', 'n8n-workflow'],
	},
	execute: {
		files: ['nodes/CrmPlatform/execute.ts'],
		imports: ['resources', 'schedule', 'toolCall', 'api', 'http', 'n8n-workflow', 'node:crypto'],
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
		imports: ['operations', 'parameters'],
		types: ['model'],
	},
	operations: {
		files: ['nodes/CrmPlatform/operations/*.ts'],
		imports: ['parameters', 'writing', 'reading', 'mapping', 'api', 'lists', 'http', 'openapi', 'n8n-workflow', 'node:crypto'],
		types: ['model'],
	},
	writing: {
		files: ['nodes/CrmPlatform/writing/*.ts'],
		imports: ['parameters', 'mapping', 'api', 'http', 'openapi', 'n8n-workflow'],
		types: ['model'],
	},
	reading: {
		files: ['nodes/CrmPlatform/reading/*.ts'],
		imports: ['parameters', 'mapping', 'expressions', 'api', 'lists', 'http', 'openapi', 'n8n-workflow', 'node:crypto'],
		types: ['model'],
	},
	parameters: {
		files: ['nodes/CrmPlatform/parameters/*.ts'],
		imports: ['mapping', 'api', 'http', 'openapi', 'contract', 'n8n-workflow'],
		types: ['model'],
	},
	mapping: {
		files: ['nodes/CrmPlatform/mapping/*.ts'],
		imports: ['expressions', 'api', 'http', 'openapi', 'n8n-workflow', 'luxon'],
		types: ['model'],
	},
	expressions: {
		files: ['nodes/CrmPlatform/mapping/expressions/*.ts'],
		imports: ['n8n-workflow'],
	},
	files: {
		files: ['nodes/CrmPlatform/files/*.ts'],
		imports: ['http', 'n8n-workflow'],
	},
	pickers: {
		files: ['nodes/CrmPlatform/pickers/*.ts'],
		imports: ['resources', 'api', 'lists', 'http', 'openapi', 'n8n-workflow'],
		types: ['model'],
	},
	webhookTrigger: {
		files: ['nodes/CrmPlatform/trigger/webhook/*.ts'],
		imports: ['trigger', 'api', 'lists', 'http', 'openapi', 'n8n-workflow', 'zod', 'node:crypto'],
	},
	pollTrigger: {
		files: ['nodes/CrmPlatform/trigger/poll/*.ts'],
		imports: ['trigger', 'api', 'lists', 'http', 'openapi', 'n8n-workflow', 'zod', 'luxon'],
	},
	trigger: {
		files: ['nodes/CrmPlatform/trigger/*.ts'],
		imports: ['api', 'lists', 'http', 'openapi', 'n8n-workflow', 'zod'],
		types: ['model'],
	},
	model: {
		files: ['nodes/CrmPlatform/model.ts'],
		imports: [],
		types: ['api', 'http', 'openapi', 'n8n-workflow'],
	},
	api: {
		files: ['nodes/CrmPlatform/api/*.ts'],
		imports: ['lists', 'openapi', 'http', 'n8n-workflow', 'zod', 'node:crypto'],
	},
	lists: {
		files: ['nodes/CrmPlatform/api/lists/*.ts'],
		imports: ['openapi', 'http', 'n8n-workflow', 'zod', 'node:crypto'],
	},
	openapi: {
		files: ['nodes/CrmPlatform/api/openapi/*.ts'],
		imports: ['http', 'contract', 'zod', 'node:crypto'],
	},
	http: {
		files: ['nodes/CrmPlatform/api/http/*.ts'],
		imports: ['n8n-workflow', 'zod', 'luxon', 'node:crypto'],
	},
	credentials: {
		files: ['credentials/*.ts'],
		imports: ['api', 'http', 'contract', 'n8n-workflow'],
	},
	contract: {
		files: ['contract/*.json'],
		imports: [],
	},
	// The sandbox, from its entry points down to the foundation.
	sandbox: {
		files: ['sandbox/*'],
		imports: [
			'sandbox/access',
			'sandbox/account',
			'sandbox/collection',
			'sandbox/control',
			'sandbox/event-log',
			'sandbox/foundation',
			'sandbox/http',
			'sandbox/jobs',
			'sandbox/oauth',
			'sandbox/openapi',
			'sandbox/pages',
			'sandbox/schemas',
			'sandbox/seed',
			'sandbox/settings',
			'sandbox/store',
			'sandbox/webhooks',
			'hono',
			'@hono/node-server',
			'node:**',
		],
	},
	'sandbox/openapi': {
		files: ['sandbox/openapi/*.ts'],
		imports: [
			'sandbox/access',
			'sandbox/event-log',
			'sandbox/events',
			'sandbox/foundation',
			'sandbox/http',
			'sandbox/oauth',
			'sandbox/queries',
			'sandbox/schemas',
			'zod',
		],
	},
	'sandbox/settings': {
		files: ['sandbox/settings/*.ts'],
		imports: ['sandbox/http', 'sandbox/oauth', 'sandbox/pages', 'sandbox/store', 'sandbox/webhooks', 'hono'],
	},
	'sandbox/oauth': {
		files: ['sandbox/oauth/*.ts'],
		imports: [
			'sandbox/access',
			'sandbox/foundation',
			'sandbox/http',
			'sandbox/pages',
			'sandbox/store',
			'sandbox/webhooks',
			'hono',
			'node:crypto',
		],
	},
	'sandbox/webhooks': {
		files: ['sandbox/webhooks/*.ts'],
		imports: [
			'sandbox/access',
			'sandbox/collection',
			'sandbox/events',
			'sandbox/foundation',
			'sandbox/http',
			'sandbox/queries',
			'sandbox/records',
			'sandbox/schemas',
			'sandbox/store',
			'hono',
			'axios',
			'ipaddr.js',
			'standardwebhooks',
			'node:**',
		],
	},
	'sandbox/jobs': {
		files: ['sandbox/jobs/*.ts'],
		imports: [
			'sandbox/access',
			'sandbox/collection',
			'sandbox/events',
			'sandbox/foundation',
			'sandbox/http',
			'sandbox/queries',
			'sandbox/records',
			'sandbox/schemas',
			'sandbox/store',
			'hono',
			'node:**',
		],
	},
	'sandbox/event-log': {
		files: ['sandbox/event-log/*.ts'],
		imports: [
			'sandbox/events',
			'sandbox/foundation',
			'sandbox/http',
			'sandbox/queries',
			'sandbox/records',
			'sandbox/schemas',
			'sandbox/store',
			'hono',
			'zod',
		],
	},
	'sandbox/collection': {
		files: ['sandbox/collection/*.ts'],
		imports: [
			'sandbox/access',
			'sandbox/foundation',
			'sandbox/http',
			'sandbox/queries',
			'sandbox/records',
			'sandbox/schemas',
			'sandbox/store',
			'hono',
			'zod',
		],
	},
	'sandbox/account': {
		files: ['sandbox/account/*.ts'],
		imports: [
			'sandbox/foundation',
			'sandbox/http',
			'sandbox/queries',
			'sandbox/records',
			'sandbox/schemas',
			'sandbox/store',
		],
	},
	'sandbox/records': {
		files: ['sandbox/records/*.ts'],
		imports: [
			'sandbox/events',
			'sandbox/foundation',
			'sandbox/http',
			'sandbox/schemas',
			'sandbox/store',
			'node:timers/promises',
		],
	},
	'sandbox/events': {
		files: ['sandbox/events/*.ts'],
		imports: ['sandbox/access', 'sandbox/foundation', 'sandbox/schemas', 'sandbox/store'],
	},
	'sandbox/queries': {
		files: ['sandbox/queries/*.ts'],
		imports: ['sandbox/foundation', 'sandbox/http', 'sandbox/schemas', 'sandbox/store', 'zod', 'node:crypto'],
	},
	'sandbox/control': {
		files: ['sandbox/control/*.ts'],
		imports: ['sandbox/foundation', 'sandbox/http', 'hono', 'zod', 'node:timers/promises'],
	},
	'sandbox/pages': {
		files: ['sandbox/pages/*.ts'],
		imports: ['sandbox/http', 'sandbox/seed', 'sandbox/store', 'hono', 'node:**'],
	},
	'sandbox/access': {
		files: ['sandbox/access/*.ts'],
		imports: ['sandbox/foundation', 'sandbox/http', 'sandbox/schemas', 'sandbox/store', 'hono'],
	},
	'sandbox/http': {
		files: ['sandbox/http/*.ts'],
		imports: ['sandbox/foundation', 'sandbox/store', 'hono', '@hono/node-server', 'ipaddr.js', 'node:crypto'],
	},
	'sandbox/seed': {
		files: ['sandbox/seed/*.ts'],
		imports: ['sandbox/foundation', 'sandbox/schemas', 'sandbox/store'],
	},
	'sandbox/store': {
		files: ['sandbox/store/*.ts'],
		imports: ['sandbox/foundation', 'sandbox/schemas', 'node:**'],
	},
	'sandbox/schemas': {
		files: ['sandbox/schemas/*.ts'],
		imports: ['sandbox/foundation', 'zod'],
	},
	'sandbox/foundation': {
		files: ['sandbox/foundation/*.ts'],
		imports: ['zod'],
	},
	tools: {
		files: ['tools/**'],
		imports: ['zod', 'node:**'],
		types: ['n8n-core', 'n8n-workflow'],
	},
	demo: {
		files: ['demo/**'],
		imports: ['tools', 'sandbox', 'sandbox/**', 'flatted', 'zod', 'node:**'],
		types: ['n8n-workflow'],
	},
	// What is measured runs in processes of its own; the bare loop of inserts borrows the sandbox's
	// schemas and tables.
	bench: {
		files: ['bench/**'],
		imports: ['tools', 'sandbox', 'sandbox/**', 'node:**'],
		types: ['n8n-workflow'],
	},
	test: {
		files: ['test/**'],
		imports: ['**'],
	},
};
