import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

/** Those of one process. `files` and `peers`, which start several of n8n, run by hand. */
const benchmarks = ['node', 'sync', 'undo', 'scale', 'names', 'count', 'merge'];

test('the benchmarks measure with the smallest work', () => {
	const printed = execFileSync(process.execPath, [resolve('bench', 'main.ts'), ...benchmarks, '20'], { encoding: 'utf8' });
	expect([...printed.matchAll(/^# (\w+)$/gm)].map(([, name]) => name)).toEqual(benchmarks);
}, 600_000);
