import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The heading of the results that each benchmark prints. */
const benchmarks = {
	...{ node: '# node', sync: '# sync', undo: '# undo', scale: '# scale' },
	...{ names: '# names', count: '# count', merge: '# merge' },
	...{ files: '# files-beside-n8n', peers: '### In a new process' },
};

// Side by side, as they often wait: for distances, or for n8n to start.
test.concurrent.each(Object.entries(benchmarks))('The benchmark %s measures with the smallest work', async (name, heading) => {
	const { stdout } = await run(process.execPath, [resolve('bench', 'main.ts'), name, '20'], { maxBuffer: 10_000_000 });
	expect(stdout).toContain(heading);
}, 600_000);
