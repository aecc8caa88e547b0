import { connectorDesign } from './connector-design.ts';
import type { Part } from './part.ts';
import { sandboxDesign } from './sandbox-design.ts';

/**
 * The arrows of the design. A file belongs to the first part that names it; a file of no part and
 * an import of no arrow are both errors. What is not in this list is imported by nobody: so it is
 * with test/, and so nodes/ and sandbox/ stay apart.
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
	// What is measured runs in processes of its own, triggers in the n8n of the demo; the bare loop of
	// inserts borrows the sandbox's schemas and tables. What is simulated comes from the built package.
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
