import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const integration = ['batches', 'files', 'lists', 'operations', 'sync', 'trigger-delivery', 'undo'];

const sandbox = ['access', 'batch', 'cursors', 'events', 'idempotency', 'jobs', 'lists', 'openapi', 'webhook-delivery'];

/**
 * The tests of `npm run check`: all that take milliseconds, the core of the nodes and of the sandbox, and the test
 * files that were changed since the last commit on main. `npm test` runs all.
 */
export function dailyFiles(): string[] {
	const core = [...integration.map((name) => `test/integration/${name}`), ...sandbox.map((name) => `test/sandbox/${name}`)];
	const missing = core.filter((file) => !existsSync(`${file}.test.ts`));
	if (missing.length > 0) throw new Error(`${missing.join(', ')} is missing: name the file that has replaced it.`);
	return [
		...['test/unit/', 'test/architecture/', 'test/workflows/'],
		...core.map((file) => `${file}.test`),
		...changedTests(),
	];
}

function changedTests(): string[] {
	const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n');
	try {
		const changed = [...git('diff', '--name-only', '--diff-filter=d', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')];
		return changed.filter((file) => /^test\/(integration|sandbox|second-service|generated-services)\/.*\.test\.ts$/.test(file));
	} catch {
		// Not a clone: the sources were copied.
		return [];
	}
}
