import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const core = join(process.env['N8N_CORE_INSTALLATION'] ?? '.', 'node_modules', 'n8n-core');
const { version } = JSON.parse(readFileSync(join(core, 'package.json'), 'utf8')) as {
	version: string;
};
const [major = 0, minor = 0] = version.split('.').map(Number);

/**
 * Tests of features that n8n itself has since a version. `npm test -- --matrix` runs the other tests in
 * older versions as well.
 *
 * @param since such as `2.30`
 */
export function sinceN8n(since: `${number}.${number}`, tests: () => void): void {
	const [needed = 0, neededMinor = 0] = since.split('.').map(Number);
	if (major > needed || (major === needed && minor >= neededMinor)) tests();
}
