import { type Pair, percentile, type Row, time } from './measure.ts';
import { otherClient } from './other-client.ts';
import type { ServerProcess } from './server-process.ts';

const rounds = 5;
const getsPerRound = 200;
const minDurationMs = 500;

/**
 * How long one client waits for a single record while another does something slow, beside how long it waits
 * alone. Both are measured in turns. The rows are those of the round with the median ratio; otherwise one
 * round in which the machine was busy would decide the slowest value.
 *
 * @param activity the name of a slow activity
 */
export async function measureGetsBeside(server: ServerProcess, activity: string): Promise<Row[]> {
	const other = otherClient(server, activity);
	try {
		// The first run reads indexes and pages of the database.
		other.begin();
		await other.pause();
		const measured: Pair[] = [];
		for (let round = 0; round < rounds; round++) {
			const bare = await timesOfGets(server);
			other.begin();
			const ours = await timesOfGets(server);
			await other.pause();
			measured.push({ ours, bare });
		}
		return rowsOf(`a get while another client ${activity}`, measured);
	} finally {
		await other.stop();
	}
}

/** Long enough to meet the slow activity more than once, and, alone, the pauses of both processes. */
export async function timesOfGets({ call }: ServerProcess): Promise<number[]> {
	const page = await call('GET', '/v1/contacts?limit=100');
	const ids = (JSON.parse(page) as { data: Array<{ id: string }> }).data.map(({ id }) => id);
	const times: number[] = [];
	const end = performance.now() + minDurationMs;
	for (let i = 0; i < getsPerRound || performance.now() < end; i++) {
		times.push(await time(() => call('GET', `/v1/contacts/${ids[i % ids.length]}`)));
	}
	return times;
}

/** The target: beside the activity, a get takes at most five times as long as alone. */
export function rowsOf(label: string, measured: Pair[]): Row[] {
	const row = (share: number): Row => {
		const figures = measured.map(({ ours, bare }) => ({ ours: percentile(ours, share), bare: percentile(bare, share) }));
		const sorted = figures.toSorted((a, b) => a.ours / a.bare - b.ours / b.bare);
		return { label: `${label}, p${share * 100}`, unit: 'ms', ...sorted[Math.floor(sorted.length / 2)]! };
	};
	return [row(0.5), { ...row(0.99), max: { ratio: 5 } }];
}
