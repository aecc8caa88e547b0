import { withBuiltPackage } from '../../../tools/build.ts';
import { packPackage } from '../../../tools/pack.ts';

/**
 * Packs the package, built from the sources as they are now. Test files run side by side: the first builds, and the
 * others use its build.
 *
 * @returns the tarball's path
 */
export async function packBuilt(folder: string): Promise<string> {
	return await withBuiltPackage(() => packPackage(folder), true);
}
