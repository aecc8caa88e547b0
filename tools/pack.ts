import { mkdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod/v4';
import { npm } from './npm.mjs';

const Manifest = z.object({ name: z.string(), version: z.string() });

/** Reads the package.json of the clone, which is the current folder. */
export const readManifest = () => Manifest.parse(JSON.parse(readFileSync('package.json', 'utf8')));

/**
 * Packs the built package as npm would publish it.
 *
 * @param folder the folder of the tarball; created if necessary
 * @returns the tarball's absolute path
 */
export async function packPackage(folder: string): Promise<string> {
	mkdirSync(folder, { recursive: true });
	await npm(['pack', '--ignore-scripts', '--pack-destination', folder], {
		subject: 'pack',
		cwd: process.cwd(),
	});
	const { name, version } = readManifest();
	return resolve(folder, `${name}-${version}.tgz`);
}
