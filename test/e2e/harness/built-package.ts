import { globSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildPackage } from '../../../tools/build.ts';
import { withLock } from '../../../tools/lock.mjs';
import { packPackage } from '../../../tools/pack.ts';

const sources = ['package.json', 'tsconfig.json', '{nodes,credentials,icons,contract}/**/*.*'];
/** What a build writes last. */
const last = 'dist/contract/openapi.json';

const changedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/**
 * Packs the package, built from the sources as they are now. Test files run side by side: one builds, and
 * only what has changed since, for a build begins by removing the one before.
 *
 * @returns the tarball's path
 */
export async function packBuilt(folder: string): Promise<string> {
	return await withLock(resolve('.tmp', 'build.lock'), async () => {
		const builtAt = changedAt(last);
		if (globSync(sources).some((file) => changedAt(file) > builtAt)) await buildPackage();
		return await packPackage(folder);
	});
}
