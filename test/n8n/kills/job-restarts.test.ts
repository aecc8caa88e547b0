import { once } from 'node:events';
import type { Json } from '../../sandbox/harness/in-process.ts';
import { linesOf, ndjson, people } from '../../sandbox/harness/job-client.ts';
import { startSandboxProcess } from '../../sandbox/harness/killable-sandbox.ts';
import { useFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const lines = 10_000;
const maxKills = 3;

let ends: AbortController;
beforeEach(() => void (ends = new AbortController()));
// No process outlives its test, even if that fails or takes too long. Its folder is removed afterwards.
afterEach(() => ends.abort());
const inFolder = useFolder();

test.each(['SIGKILL', 'SIGTERM'] as const)(
	'after %s in the middle, a job continues where it stopped: every line once, none left out',
	async (signal) => {
		const start = () => startSandboxProcess(inFolder('sandbox.db'), { signal: ends.signal });
		let sandbox = await start();
		const kill = async () => {
			const ended = once(sandbox.child, 'exit');
			sandbox.child.kill(signal);
			await ended;
		};
		const send = async (path: string, body?: string): Promise<string> => {
			const headers = { Authorization: 'Bearer KEY' };
			const upload = body !== undefined && { method: 'POST', headers: { ...headers, ...ndjson }, body };
			const response = await fetch(sandbox.url + path, { headers, ...upload });
			if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
			return await response.text();
		};
		const submitted = await send('/v1/jobs?resource=contacts&operation=create', linesOf(people(lines)));
		const { id } = JSON.parse(submitted);
		const job = async (): Promise<Json> => JSON.parse(await send(`/v1/jobs/${id}`));
		/** Waits for the next lines; false if there are none, because the job has ended. */
		const isInTheMiddle = async () => {
			const before = await job();
			const now = await until(async () => {
				const found = await job();
				return (found.finished_at !== null || found.processed !== before.processed) && found;
			});
			return now.finished_at === null;
		};

		let kills = 0;
		// A quick job may end before the last one.
		for (; kills < maxKills && (await isInTheMiddle()); kills++) {
			await kill();
			sandbox = await start();
		}
		expect(kills).toBeGreaterThan(0);
		await until(async () => (await job()).finished_at);
		expect(await job()).toMatchObject({ status: 'completed', total: lines, succeeded: lines, failed: 0 });
		const results = (await send(`/v1/jobs/${id}/results`)).trim().split('\n').map((line) => JSON.parse(line));
		expect(results.map(({ index }) => index)).toEqual(people(lines).map((_, i) => i));
		expect(JSON.parse(await send('/v1/contacts?limit=1')).total).toBe(lines);
		await kill();
	},
);
