import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';

/** The core of what needs n8n-core or a sandbox, by feature. */
const core = [
	'files/files', 'lists/lists', 'sync/sync', 'triggers/webhook/delivery', 'undo/undo', 'writes/batches', 'writes/actions',
	...['access/access', 'events/events', 'events/webhook-delivery', 'jobs/jobs', 'lists/lists', 'records/batch', 'records/idempotency'].map(
		(name) => `sandbox/${name}`,
	),
];

const slowFolders = /^test\/(contract|long|n8n|package\/gate|sandbox|services)\//;
/** What a test imports that takes milliseconds. */
const quickSupport = /(deferred|until|random-runs|temporary-folder|listen|local-server|whole-request|run-steps)/;

/**
 * The tests of `npm run check`: all that take milliseconds, the core of the nodes and of the sandbox, and the test
 * files that were changed since the last commit. `npm test` runs all.
 */
export function dailyFiles(): string[] {
	const coreFiles = core.map((name) => `test/${name}.test.ts`);
	const missing = coreFiles.filter((file) => !existsSync(file));
	if (missing.length > 0) throw new Error(`${missing.join(', ')} is missing: name the file that has replaced it.`);
	return [...new Set([...globSync('test/**/*.test.ts').filter(isQuick), ...coreFiles, ...changedTests()])].sort();
}

/** A test of one module by itself, without n8n-core or a sandbox. */
function isQuick(file: string): boolean {
	if (slowFolders.test(file)) return false;
	const imports = [...readFileSync(file, 'utf8').matchAll(/from '([^']*(?:support|sandbox)\/[^']*|n8n-core)'/g)];
	return imports.every(([, name]) => quickSupport.test(name!));
}

function changedTests(): string[] {
	const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n');
	try {
		const changed = [...git('diff', '--name-only', '--diff-filter=d', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')];
		return changed.filter((file) => /^test\/(?!contract|long|n8n).*\.test\.ts$/.test(file));
	} catch {
		// Not a clone: the sources were copied.
		return [];
	}
}
