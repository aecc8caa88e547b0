import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder, installOnce, logFile } from './cache.mjs';
import { Failure } from './failure.mjs';
import { npm } from './npm.mjs';
import { showProgress } from './progress.mjs';

/**
 * The package.json and package-lock.json of the n8n that `npm start` runs. This file is plain JavaScript
 * without dependencies, since the launcher installs n8n while it installs the project's packages.
 */
const manifest = resolve(dirname(fileURLToPath(import.meta.url)), '..', 'demo', 'n8n');
/** @type {string} */
const n8nVersion = JSON.parse(readFileSync(join(manifest, 'package.json'), 'utf8')).dependencies.n8n;

/** The packages whose install scripts are necessary. */
const nativeModules = ['sqlite3', 'isolated-vm'];

/**
 * Installs n8n into the machine's cache, unless it is there.
 *
 * @param {string} [node] the Node.js that will run it
 * @returns {Promise<string>} the folder whose node_modules hold n8n
 * @throws {Failure} if npm cannot install it, with advice
 */
export async function installN8n(node = process.execPath) {
	const folder = join(cacheFolder(), folderName(node));
	await installOnce(
		folder,
		(temporary) => install(temporary, node),
		(holder) => console.log(`Waiting for process ${holder}, which is installing n8n ...`),
	);
	return folder;
}

/**
 * A name that includes everything an installation depends on; native modules are compiled for one version of Node.js.
 *
 * @param {string} node
 */
function folderName(node) {
	const lock = createHash('sha256').update(readFileSync(join(manifest, 'package-lock.json')));
	const { platform, arch } = process;
	const runtime = `${platform}-${arch}-abi${abiOf(node)}`;
	return `n8n-${n8nVersion}-${runtime}-${lock.digest('hex').slice(0, 8)}`;
}

/** @param {string} node */
function abiOf(node) {
	if (node === process.execPath) return process.versions.modules;
	return execFileSync(node, ['-p', 'process.versions.modules'], { encoding: 'utf8' }).trim();
}

/**
 * npm downloads on one core; meanwhile, the native modules are compiled on another, in a separate folder.
 *
 * @param {string} folder an empty one
 * @param {string} node
 */
async function install(folder, node) {
	for (const file of ['package.json', 'package-lock.json']) {
		copyFileSync(join(manifest, file), join(folder, file));
	}
	const native = join(folder, 'native');
	const title = `Installing n8n ${n8nVersion} (3 to 5 minutes and 3 GB, once per machine)`;
	await showProgress(title, async (step) => {
		const pendingSteps = new Set(['downloading its packages', `building ${nativeModules.join(' and ')}`]);
		/** @param {string} name @param {Promise<void>} work */
		const track = async (name, work) => {
			await work;
			pendingSteps.delete(name);
			step([...pendingSteps].join(', '));
		};
		const [download = '', build = ''] = pendingSteps;
		step([...pendingSteps].join(', '));
		await bothOrNeither(
			track(download, downloadPackages(folder, node)),
			track(build, buildNativeModules(native, node)),
		);
		for (const name of nativeModules) {
			const target = join(folder, 'node_modules', name);
			rmSync(target, { recursive: true, force: true });
			cpSync(join(native, 'node_modules', name), target, { recursive: true });
		}
		rmSync(native, { recursive: true, force: true });
	});
	checkNativeModules(folder, node);
}

/**
 * Waits for both even if one fails, so that nothing writes into an abandoned folder.
 *
 * @param {Promise<void>} first
 * @param {Promise<void>} second
 */
async function bothOrNeither(first, second) {
	const outcomes = await Promise.allSettled([first, second]);
	for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/**
 * @param {string} folder
 * @param {string} node
 */
async function downloadPackages(folder, node) {
	// Not `npm ci`, which refuses this tree because of its conflicting peer dependencies.
	await npm(['install', '--ignore-scripts', '--package-lock', '--strict-peer-deps=false'], {
		subject: 'n8n-install',
		cwd: folder,
		node,
	});
}

/**
 * @param {string} folder
 * @param {string} node
 */
async function buildNativeModules(folder, node) {
	const lock = JSON.parse(readFileSync(join(manifest, 'package-lock.json'), 'utf8'));
	const dependencies = Object.fromEntries(nativeModules.map((name) => [name, lock.packages[`node_modules/${name}`].version]));
	const allowScripts = Object.fromEntries(nativeModules.map((name) => [name, true]));
	mkdirSync(folder);
	writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies, allowScripts }));
	await npm(['install', '--no-package-lock', '--ignore-scripts=false'], { subject: 'n8n-build', cwd: folder, node });
}

/**
 * npm may skip install scripts silently, and n8n would fail much later.
 *
 * @param {string} folder
 * @param {string} node
 */
function checkNativeModules(folder, node) {
	const load = nativeModules.map((name) => `require('${name}')`).join(';');
	try {
		execFileSync(node, ['--no-node-snapshot', '-e', load], { cwd: folder, stdio: 'pipe' });
	} catch (error) {
		throw new Failure(
			`n8n's native modules (${nativeModules.join(', ')}) were installed but do not load: ` +
				`${error instanceof Error ? error.message : error}\n  Log: ${logFile('n8n-build')}`,
		);
	}
}
