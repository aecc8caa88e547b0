import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod/v4';
import { cacheFolder, installOnce, logFile } from '../tools/cache.mjs';
import { Failure } from '../tools/failure.mjs';
import { npm } from '../tools/npm.mjs';
import { showProgress } from '../tools/progress.mjs';

/** The package.json and package-lock.json of the n8n we run, kept in the repository. */
const MANIFEST = resolve('demo', 'n8n');

const Manifest = z.object({ dependencies: z.object({ n8n: z.string() }) });

/** The only packages of n8n's whose install scripts it cannot do without. */
const NATIVE_MODULES = ['sqlite3', 'isolated-vm'];

/**
 * Installs n8n into the machine's cache, unless it is there.
 *
 * @returns the folder whose node_modules hold n8n.
 * @throws {Failure} with what to do, when npm cannot install it.
 */
export async function installN8n(): Promise<string> {
	const folder = join(cacheFolder(), folderName());
	await installOnce(folder, fillFolder, (holder) =>
		console.log(`Waiting for process ${holder}, which is installing n8n ...`),
	);
	return folder;
}

/** Names everything an installation depends on: native modules are compiled for one Node. */
function folderName(): string {
	const lock = createHash('sha256').update(readFileSync(join(MANIFEST, 'package-lock.json')));
	const { platform, arch, versions } = process;
	const runtime = `${platform}-${arch}-abi${versions.modules}`;
	return `n8n-${n8nVersion()}-${runtime}-${lock.digest('hex').slice(0, 8)}`;
}

function n8nVersion(): string {
	const manifest: unknown = JSON.parse(readFileSync(join(MANIFEST, 'package.json'), 'utf8'));
	return Manifest.parse(manifest).dependencies.n8n;
}

async function fillFolder(folder: string): Promise<void> {
	for (const file of ['package.json', 'package-lock.json']) {
		copyFileSync(join(MANIFEST, file), join(folder, file));
	}
	const title = `Installing n8n ${n8nVersion()} (3 to 5 minutes and 3 GB, once per machine)`;
	await showProgress(title, async (step) => {
		step('step 1 of 2: downloading its packages');
		// Not `npm ci`: it refuses this tree for its conflicting peer dependencies.
		await npm(['install', '--ignore-scripts', '--package-lock', '--strict-peer-deps=false'], {
			subject: 'n8n-install',
			cwd: folder,
		});
		step(`step 2 of 2: building ${NATIVE_MODULES.join(' and ')}`);
		await npm(['rebuild', '--ignore-scripts=false', ...NATIVE_MODULES], {
			subject: 'n8n-build',
			cwd: folder,
		});
	});
	checkNativeModules(folder);
}

/** npm may skip install scripts without a word, and n8n would fail much later. */
function checkNativeModules(folder: string): void {
	const load = NATIVE_MODULES.map((name) => `require('${name}')`).join(';');
	try {
		execFileSync(process.execPath, ['--no-node-snapshot', '-e', load], {
			cwd: folder,
			stdio: 'pipe',
		});
	} catch (error) {
		throw new Failure(
			`n8n's native modules (${NATIVE_MODULES.join(', ')}) were installed but do not load: ` +
				`${error instanceof Error ? error.message : error}\n  Log: ${logFile('n8n-build')}`,
		);
	}
}
