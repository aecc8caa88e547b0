import { isStopping } from './stop.mjs';

const TERMINAL_EVERY_MS = 1_000;
/** Without a terminal every report is a line in somebody's log. */
const LOG_EVERY_MS = 30_000;

/**
 * Says what is being done, and while it lasts how long it has taken.
 *
 * @template T
 * @param {string} title what is done and how long that usually takes.
 * @param {(step: (name: string) => void) => Promise<T>} work may name the step it is at.
 * @returns {Promise<T>}
 */
export async function showProgress(title, work) {
	const out = process.stdout;
	const startedAt = Date.now();
	let step = '';
	const report = () => {
		if (isStopping()) return;
		const line = `  ${duration(Date.now() - startedAt)}${step && `, ${step}`}`;
		out.write(out.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
	};
	out.write(`${title} ...\n`);
	const timer = setInterval(report, out.isTTY ? TERMINAL_EVERY_MS : LOG_EVERY_MS);
	try {
		const result = await work((name) => {
			step = name;
			report();
		});
		if (out.isTTY) out.write('\r\x1b[K');
		out.write(`  done in ${duration(Date.now() - startedAt)}\n`);
		return result;
	} catch (error) {
		if (out.isTTY) out.write('\r\x1b[K');
		throw error;
	} finally {
		clearInterval(timer);
	}
}

/**
 * A length of time as people say it: "4 s", "2 min 05 s".
 *
 * @param {number} ms
 */
export function duration(ms) {
	const seconds = Math.round(ms / 1000);
	if (seconds < 60) return `${seconds} s`;
	return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}
