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
		imports: ['typescript', '@rollup/wasm-node', 'zod', 'node:**'],
		types: ['n8n-core', 'n8n-workflow'],
	},
	demo: {
		files: ['demo/**'],
		imports: ['tools', 'sandbox', 'sandbox/**', 'flatted', 'get-port', 'zod', 'node:**'],
		types: ['n8n-workflow'],
	},
	// Benchmarks run the package in separate processes; those of triggers, in the demo's n8n. The bare loop
	// of inserts uses the sandbox's schemas and tables; simulations load the built package.
	bench: {
		files: ['bench/**'],
		imports: ['tools', 'demo', 'sandbox', 'sandbox/**', 'node:**'],
		types: ['nodes/CrmPlatform/base', 'nodes/CrmPlatform/api/http', 'n8n-workflow'],
	},
	test: {
		files: ['test/**'],
		imports: ['**'],
	},
};
