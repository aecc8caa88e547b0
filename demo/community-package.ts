import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod/v4';
import { npm } from '../tools/npm.mjs';

const Manifest = z.object({ dependencies: z.record(z.string(), z.string()) });

/**
 * Installs a packed node package into an n8n that is not running, as n8n installs community nodes.
 * Does nothing if the same tarball is already installed.
 *
 * @param userFolder the N8N_USER_FOLDER of that n8n
 * @param packageName the name in the tarball's package.json
 * @param tarball the path of the package
 */
export async function installCommunityPackage(
	userFolder: string,
	packageName: string,
	tarball: string,
): Promise<void> {
	const folder = join(userFolder, '.n8n', 'nodes');
	const manifest = join(folder, 'package.json');
	if (!existsSync(manifest)) {
		mkdirSync(folder, { recursive: true });
		writeFileSync(
			manifest,
			JSON.stringify({ name: 'installed-nodes', private: true, dependencies: {} }),
		);
	}
	// npm would treat a changed tarball of the same name as damaged.
	const digest = createHash('sha256').update(readFileSync(tarball)).digest('hex').slice(0, 16);
	const file = `${packageName}-${digest}.tgz`;
	const { dependencies } = Manifest.parse(JSON.parse(readFileSync(manifest, 'utf8')));
	const installed = dependencies[packageName];
	if (installed === `file:${file}`) return;

	cpSync(tarball, join(folder, file));
	// Legacy peer dependencies, because n8n provides n8n-workflow, which must not be installed twice.
	await npm(['install', '--legacy-peer-deps', '--ignore-scripts', `./${file}`], {
		subject: 'community-package',
		cwd: folder,
	});
	if (installed) rmSync(join(folder, installed.replace('file:', '')), { force: true });
}
