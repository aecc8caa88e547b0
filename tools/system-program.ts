import {
	accessSync,
	constants,
	closeSync,
	existsSync,
	globSync,
	mkdirSync,
	openSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { logFile } from './cache.mjs';
import { runGroup } from './child.mjs';
import { searchPath } from './environment.mjs';
import { showProgress } from './progress.mjs';

/** A program that npm does not bring. */
interface SystemProgram {
	/** As the messages call it. */
	name: string;
	/** Its command, under every name it is known by. */
	commands: string[];
	/** Where it is when it is not on the PATH; a `*` stands for anything but a slash. */
	otherPaths?: string[];
	debianPackage: string;
}

const APT_GET = '/usr/bin/apt-get';

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
	// Debian keeps the programs of a server off the PATH, since it can have several versions.
	otherPaths: ['/usr/lib/postgresql/*/bin/postgres'],
	debianPackage: 'postgresql',
};

/** Where the program is on this machine, if it is. */
export function findProgram({ commands, otherPaths = [] }: SystemProgram): string | undefined {
	const files = commands.flatMap((command) => fileNames(command, process.platform));
	const onPath = files.flatMap((file) => searchPath().map((folder) => join(folder, file)));
	// Of several versions the newest.
	const offPath = otherPaths.flatMap((place) => globSync(place).sort().reverse());
	return [...onPath, ...offPath].find(isExecutable);
}

/** The names a command's file may have: on Windows a program is found by its extension. */
export function fileNames(command: string, platform: NodeJS.Platform): string[] {
	return platform === 'win32' ? [`${command}.exe`] : [command];
}

/**
 * Installs the program where we may: as root on a system with Debian's packages.
 *
 * @returns what stood in the way, in words for the user; undefined when the program is there.
 */
export async function installProgram(program: SystemProgram): Promise<string | undefined> {
	if (findProgram(program)) return undefined;
	const { name, debianPackage } = program;
	const advice = `Install it with your system's packages (Debian: apt-get install ${debianPackage}).`;
	if (!existsSync(APT_GET)) return `${name} is not installed. ${advice}`;
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
		// Its exit code tells little (an unreachable source fails `update` though all is known):
		// whether the program is there afterwards tells all.
		await runGroup(APT_GET, ['-o', 'DPkg::Lock::Timeout=300', ...args], {
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
