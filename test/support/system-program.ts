import { accessSync, constants, closeSync, existsSync, globSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { logFile } from '../../tools/cache.mjs';
import { runGroup } from '../../tools/child.mjs';
import { searchPath } from '../../tools/environment.mjs';
import { showProgress } from '../../tools/progress.mjs';

/** A program that npm cannot install. */
interface SystemProgram {
	/** Its name in messages. */
	name: string;
	/** Its command, and other names of it. */
	commands: string[];
	/** Paths to try if it is not on the PATH; `*` matches anything but a slash. */
	otherPaths?: string[];
	debianPackage: string;
}

const aptGetPath = '/usr/bin/apt-get';

export const chromium: SystemProgram = {
	name: 'Chromium',
	commands: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
	otherPaths: [
		'/Applications/Chromium.app/Contents/MacOS/Chromium',
		'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
		'C:/Program Files*/Google/Chrome/Application/chrome.exe',
	],
	debianPackage: 'chromium',
};

export const redis: SystemProgram = {
	name: 'Redis',
	commands: ['redis-server'],
	debianPackage: 'redis-server',
};

export const postgres: SystemProgram = {
	name: 'PostgreSQL',
	commands: ['postgres'],
	// Debian does not put the server's programs on the PATH, since several versions can be installed.
	otherPaths: ['/usr/lib/postgresql/*/bin/postgres'],
	debianPackage: 'postgresql',
};

/** The program's path on this machine, if it is installed. */
export function findProgram({ commands, otherPaths = [] }: SystemProgram): string | undefined {
	// On Windows, a program has an extension.
	const extension = process.platform === 'win32' ? '.exe' : '';
	const onPath = commands.flatMap((command) => searchPath().map((folder) => join(folder, command + extension)));
	// The newest of several versions.
	const offPath = otherPaths.flatMap((place) => globSync(place).sort().reverse());
	return [...onPath, ...offPath].find(isExecutable);
}

let lastInstallation: Promise<unknown> = Promise.resolve();

/**
 * Installs the program if possible: as root, on a system with Debian's packages. Steps that run side by side wait for each
 * other, as `apt-get update` fails beside another one.
 *
 * @returns why it could not be installed, for the user; undefined if it is installed
 */
export async function installProgram(program: SystemProgram): Promise<string | undefined> {
	const installation = lastInstallation.then(async () => await install(program));
	lastInstallation = installation.catch(() => undefined);
	return await installation;
}

async function install(program: SystemProgram): Promise<string | undefined> {
	if (findProgram(program)) return undefined;
	const { name, debianPackage } = program;
	const advice = `Install it with your system's packages (Debian: apt-get install ${debianPackage}).`;
	if (!existsSync(aptGetPath)) return `${name} is not installed. ${advice}`;
	if (process.getuid?.() !== 0) return `${name} is not installed, and only root may. ${advice}`;

	const log = logFile(`apt-${debianPackage}`);
	await showProgress(`Installing ${name} (about a minute, once)`, async () => {
		await aptGet(['update'], log);
		await aptGet(['install', '-y', '--no-install-recommends', debianPackage], log);
	});
	return findProgram(program) ? undefined : `${name} could not be installed, see ${log}. ${advice}`;
}

async function aptGet(args: string[], log: string): Promise<void> {
	mkdirSync(dirname(log), { recursive: true });
	const output = openSync(log, 'a');
	try {
		// Its exit code says little (`update` fails if one source is unreachable, even an unneeded one),
		// so the program is looked for afterwards.
		await runGroup(aptGetPath, ['-o', 'DPkg::Lock::Timeout=300', ...args], {
			env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
			stdio: ['ignore', output, output],
		});
	} finally {
		closeSync(output);
	}
}

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
