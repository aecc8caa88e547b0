import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasEnded, startGroup, stopGroup } from '../tools/child.mjs';
import { Failure } from '../tools/failure.mjs';
import { n8nEnvironment, type N8nPlace, n8nUrl } from './n8n-environment.ts';

/** Far longer than the usual 8 to 18 seconds, because the first start also creates the database. */
const startTimeoutMs = 180_000;
const pollMs = 250;
const responseTimeoutMs = 5_000;
const stopGraceMs = 10_000;
const shownLogLines = 20;

export interface N8nProcess {
	url: string;
	pid: number;
	/** Resolves when n8n responds. Rejects with the end of its log if it ends or takes too long. */
	ready: Promise<void>;
	/** Resolves when n8n has ended, for whatever reason. */
	ended: Promise<void>;
	/** Ends n8n and its child processes. */
	stop(): Promise<void>;
	/** Kills n8n (SIGKILL), as in a crash: it cannot finish or save anything. */
	kill(): Promise<void>;
}

/**
 * Starts a real n8n.
 *
 * @param installation the folder whose node_modules hold n8n
 * @param log the file to which its output is written
 * @param command n8n's command, such as `worker`
 */
export function startN8n(
	installation: string,
	place: N8nPlace,
	log: string,
	command: string[] = ['start'],
): N8nProcess {
	mkdirSync(place.userFolder, { recursive: true });
	mkdirSync(dirname(log), { recursive: true });
	const output = openSync(log, 'w');
	const program = join(installation, 'node_modules', 'n8n', 'bin', 'n8n');
	const child = startGroup(
		process.execPath,
		['--require', resolve('demo', 'end-with-parent.cjs'), program, ...command],
		{
			// n8n reads a .env file in its current folder.
			cwd: place.userFolder,
			env: n8nEnvironment(place, process.env),
			stdio: ['ignore', output, output, 'pipe'],
		},
	);
	closeSync(output);
	const ended = once(child, 'exit').then(() => {});
	const url = n8nUrl(place.port);
	return {
		url,
		pid: child.pid!,
		ended,
		ready: waitUntilReady(readyPaths(command, place).map((path) => url + path), () => hasEnded(child), log),
		stop: () => stopGroup(child, stopGraceMs),
		async kill() {
			process.kill(-child.pid!, 'SIGKILL');
			await ended;
		},
	};
}

/**
 * The paths that respond with success once n8n is ready: /healthz does so before n8n has loaded its nodes, and the readiness of
 * n8n 2.11 before the editor's API.
 */
function readyPaths([command]: string[], { settings = {} }: N8nPlace): string[] {
	const readiness = '/healthz/readiness';
	// Workers and webhook processes have no editor.
	const hasEditor = command === 'start' && settings['N8N_DISABLE_UI'] !== 'true';
	return hasEditor ? [readiness, '/rest/settings'] : [readiness];
}

/** @param urls that respond with success once n8n is ready */
async function waitUntilReady(urls: string[], isOver: () => boolean, log: string): Promise<void> {
	const deadline = Date.now() + startTimeoutMs;
	while (!isOver()) {
		if (Date.now() > deadline) {
			throw new Failure(`n8n did not start within three minutes.\n${endOfLog(log)}`);
		}
		if ((await Promise.all(urls.map(isUp))).every(Boolean)) return;
		await sleep(pollMs);
	}
	throw new Failure(`n8n ended while it was starting.\n${endOfLog(log)}`);
}

async function isUp(url: string): Promise<boolean> {
	try {
		return (await fetch(url, { signal: AbortSignal.timeout(responseTimeoutMs) })).ok;
	} catch {
		return false;
	}
}

/** The last lines of a log and its path, to append to an error message. */
export function endOfLog(log: string): string {
	const lines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-shownLogLines);
	return [...lines.map((line) => `    ${line}`), `  Full log: ${log}`].join('\n');
}
