import { connectorDesign } from './connector-design.ts';
import type { Part } from './part.ts';
import { sandboxDesign } from './sandbox-design.ts';

/**
 * The arrows of the design. A file belongs to the first part that names it; a file of no part and
 * an import of no arrow are both errors. No part lists test/, and nodes/ and sandbox/ do not list each other.
 */
export const design: Record<string, Part> = {
	...connectorDesign,
	contract: {
		files: ['contract/*.json'],
		imports: [],
	},
	...sandboxDesign,
	tools: {
		files: ['tools/**'],
		imports: ['@rollup/wasm-node', 'zod', 'node:**'],
	},
	demo: {
		files: ['demo/**'],
		imports: ['tools', 'sandbox', 'sandbox/**', 'flatted', 'get-port', 'zod', 'node:**'],
		types: ['n8n-workflow'],
	},
	// Runs a built node in n8n-core's context, for tests and benchmarks.
	nodeContext: { files: ['test/support/node-context.ts'], imports: ['node:**'], types: ['n8n-core', 'n8n-workflow'] },
	// Benchmarks run the package in separate processes, and files in the demo's n8n; simulations load the built package.
	bench: {
		files: ['bench/**'],
		imports: ['nodeContext', 'tools', 'demo', 'node:**'],
		types: ['nodes/CrmPlatform/base', 'nodes/CrmPlatform/api/http', 'n8n-workflow'],
	},
	test: {
		files: ['test/**'],
		imports: ['**'],
	},
};
