import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, installOnce } from '../../../tools/cache.mjs';
import { npm } from '../../../tools/npm.mjs';
import { showProgress } from '../../../tools/progress.mjs';

/**
 * Installs a version of n8n-core, with what it needs, into the machine's cache, unless it is there.
 *
 * @returns the folder whose node_modules hold it
 * @throws {Failure} if npm cannot install it
 */
export async function installCore(version: string): Promise<string> {
	const folder = join(cacheFolder(), `n8n-core-${version}`);
	await installOnce(folder, async (temporary) => {
		writeFileSync(join(temporary, 'package.json'), '{ "private": true }\n');
		await showProgress(`Installing n8n-core ${version} (under a minute, once)`, () =>
			npm(['install', '--save-exact', '--ignore-scripts', `n8n-core@${version}`], {
				subject: `n8n-core-${version}`,
				cwd: temporary,
			}),
		);
	});
	return folder;
}
