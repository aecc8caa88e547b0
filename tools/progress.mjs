import { isStopping } from './stop.mjs';

const terminalEveryMs = 1_000;
/** Interval without a terminal, where each report is a line in a log. */
const logEveryMs = 30_000;

/** @typedef {{ name: string, startedAt: number, step: string }} Work */

/** The work in progress, in the order in which it began; it shares one line of the terminal. @type {Set<Work>} */
const activeWork = new Set();

/** @type {NodeJS.Timeout | undefined} */
let timer;

/**
 * Prints the title of the work and how long it has taken so far.
 *
 * @template T
 * @param {string} title what is done, and in parentheses how long it usually takes
 * @param {(step: (name: string) => void) => Promise<T>} work may report its current step
 * @returns {Promise<T>}
 */
export async function showProgress(title, work) {
	const current = { name: title.split(' (')[0] ?? title, startedAt: Date.now(), step: '' };
	writeLine(`${title} ...`);
	activeWork.add(current);
	const isAlone = activeWork.size === 1;
	timer ??= setInterval(report, process.stdout.isTTY ? terminalEveryMs : logEveryMs);
	try {
		const result = await work((name) => {
			current.step = name;
			report();
		});
		const subject = isAlone && activeWork.size === 1 ? '' : `${current.name}: `;
		writeLine(`  ${subject}done in ${duration(Date.now() - current.startedAt)}`);
		return result;
	} catch (error) {
		writeLine();
		throw error;
	} finally {
		activeWork.delete(current);
		if (activeWork.size === 0) {
			clearInterval(timer);
			timer = undefined;
		}
	}
}

function report() {
	if (isStopping()) return;
	const out = process.stdout;
	const parts = [...activeWork].map(({ name, startedAt, step }) => {
		const state = `${duration(Date.now() - startedAt)}${step && `, ${step}`}`;
		return activeWork.size > 1 ? `${name}: ${state}` : state;
	});
	const line = `  ${parts.join('; ')}`;
	// A line that wraps could not be overwritten.
	if (out.isTTY) out.write(`\r\x1b[K${line.slice(0, (out.columns || 80) - 1)}`);
	else out.write(`${line}\n`);
}

/** Overwrites the report on a terminal; without a line, it only clears it. */
function writeLine(line = '') {
	if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
	if (line) process.stdout.write(`${line}\n`);
}

/**
 * A duration for people: "4 s", "2 min 05 s".
 *
 * @param {number} ms
 */
export function duration(ms) {
	const seconds = Math.round(ms / 1000);
	if (seconds < 60) return `${seconds} s`;
	return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}
