import { existsSync } from 'node:fs';

const integration = [
	'actions', 'agent', 'agent-tools', 'batch-failures', 'batches', 'changes', 'changes-records', 'credential',
	'custom-fields', 'expressions', 'file-exports', 'files', 'filters', 'forms', 'linked', 'lists', 'look-ups',
	'mapping', 'match-on', 'operations', 'outcome', 'pickers', 'replace', 'resources', 'sync', 'sync-conflicts',
	'sync-guards', 'trigger-delivery', 'trigger-lifecycle', 'undo',
];

const sandbox = [
	'access', 'batch', 'console', 'contract', 'cursors', 'custom-fields', 'deals', 'event-log', 'events',
	'idempotency', 'jobs', 'lists', 'merge-patch', 'openapi', 'store', 'visibility', 'webhook-delivery',
	'webhooks',
];

/**
 * The tests of `npm run check`: all that take milliseconds, and of each part of the nodes and the sandbox
 * the file that uses it as most users do. `npm test` runs all of them.
 */
export function dailyFiles(): string[] {
	const core = [...integration.map((name) => `test/integration/${name}`), ...sandbox.map((name) => `test/sandbox/${name}`)];
	const missing = core.filter((file) => !existsSync(`${file}.test.ts`));
	if (missing.length > 0) throw new Error(`${missing.join(', ')} is missing: name the file that has replaced it.`);
	return [
		'test/unit/',
		'test/architecture/',
		'test/second-service/',
		'test/generated-services/',
		'test/workflows/',
		...core.map((file) => `${file}.test`),
	];
}
