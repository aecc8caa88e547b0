import { checkStarts as check, type SeenOfN8n, type Start } from '../../../nodes/CrmPlatform/trigger/poll/startLedger';

const second = 1000;
const minute = 60 * second;
const start = (lastEmission: number, more: Partial<Start> = {}): Start => ({
	lastEmission,
	earlier: [],
	otherOutcomes: {},
	isDoneWhenBegun: false,
	at: 0,
	repeats: 0,
	hasBegun: false,
	isReported: false,
	...more,
});

type Observations = SeenOfN8n & { lastOutcomeAt?: number; timeout?: number };

/** What to do about starts, which are named by their emissions. */
function checkStarts(starts: Start[], { lastOutcomeAt = 0, ...seen }: Observations, now: number) {
	const ledger = { starts: new Map(starts.map((entry) => [`${entry.lastEmission}`, entry])), lastOutcomeAt };
	const { repeat, report, timedOut, doubtful } = check(ledger, seen, now);
	const [repeats, reports, timedOuts] = [repeat, report, timedOut].map((names) => names.map(Number));
	return { repeat: repeats, report: reports, timedOut: timedOuts, doubtful: doubtful === undefined ? undefined : Number(doubtful) };
}
const repeated = (...observed: Parameters<typeof checkStarts>) => checkStarts(...observed).repeat;

test('in the main process, and while the place of executions is unknown, no start is repeated', () => {
	const seen = { lastOutcomeAt: 0, failedAt: 0 };
	expect(repeated([start(1, { overtakenAt: 0 })], seen, 1e9)).toEqual([]);
	expect(repeated([start(1)], { ...seen, onWorkers: false }, 1e9)).toEqual([]);
});

test('after a minute without an outcome, a start may be lost, unless its execution was seen', () => {
	const doubtful = (...observed: Parameters<typeof checkStarts>) => checkStarts(...observed).doubtful;
	const starts = [start(3), start(2), start(1, { seenAt: 0 }), start(4, { hasBegun: true })];
	for (const seen of [{}, { onWorkers: true }]) {
		expect(doubtful(starts, seen, 59 * second)).toBeUndefined();
		expect(doubtful(starts, seen, 60 * second)).toBe(2);
	}
	expect(doubtful(starts, { onWorkers: false }, 1e9)).toBeUndefined();
	// A start that is known to be lost is repeated.
	expect(doubtful([...starts, start(0, { overtakenAt: 0 })], { onWorkers: true }, 60 * second)).toBeUndefined();
});

test('an execution that has begun has ended when the timeout of its workflow has passed', () => {
	const starts = [start(1, { seenAt: 10 * second }), start(2)];
	const timedOut = (seen: Observations, now: number) => checkStarts(starts, seen, now).timedOut;
	expect(timedOut({ timeout: 5 * second }, 74 * second)).toEqual([]);
	expect(timedOut({ timeout: 5 * second }, 75 * second)).toEqual([1]);
	expect(timedOut({}, 1e9)).toEqual([]);
	expect(timedOut({ timeout: 5 * second, onWorkers: false }, 1e9)).toEqual([]);
});

test('the first execution, once begun, is doubted only after an hour in the main process', () => {
	const seen = start(1, { seenAt: minute });
	expect(checkStarts([seen], {}, 59 * minute)).toMatchObject({ report: [], doubtful: undefined });
	expect(checkStarts([seen], {}, 60 * minute)).toMatchObject({ report: [], doubtful: 1 });
	expect(checkStarts([seen], { onWorkers: true, lastOutcomeAt: 60 * minute }, 60 * minute).doubtful).toBeUndefined();
});

test('an unknown outcome is reported after an hour', () => {
	const [open, reportedStart] = [start(1), start(2, { isReported: true })];
	expect(checkStarts([open, reportedStart], {}, 59 * minute).report).toEqual([]);
	expect(checkStarts([open, reportedStart], {}, 60 * minute).report).toEqual([1]);
	expect(checkStarts([open], { onWorkers: false }, 60 * minute).report).toEqual([]);
});

test('a job that a later one has overtaken is repeated; the next job in the queue is not', () => {
	const starts = [start(2, { overtakenAt: 10 * second }), start(4)];
	// Other executions may end all the time.
	const seen = { onWorkers: true, lastOutcomeAt: 39 * second };
	expect(repeated(starts, seen, 39 * second)).toEqual([]);
	expect(repeated(starts, seen, 40 * second)).toEqual([2]);
});

test('starts around an outage of the database are repeated once it is over', () => {
	const starts = [start(1, { at: 0 }), start(2, { at: 100 * second })];
	const seen = { onWorkers: true, failedAt: 20 * second };
	expect(repeated(starts, seen, 40 * second)).toEqual([]);
	expect(repeated(starts, seen, 50 * second)).toEqual([1]);
});

test('if no outcome arrives, the longest wait is repeated alone, and less and less often', () => {
	const seen = { onWorkers: true, lastOutcomeAt: 0 };
	const five = [5, 4, 3, 2, 1].map((number) => start(number));
	expect(repeated(five, seen, 9 * minute)).toEqual([]);
	expect(repeated(five, seen, 10 * minute)).toEqual([1]);
	expect(repeated([start(1, { repeats: 1, at: 10 * minute })], seen, 29 * minute)).toEqual([]);
	expect(repeated([start(1, { repeats: 1, at: 10 * minute })], seen, 30 * minute)).toEqual([1]);
});

test('an execution that has begun is never repeated, and reported after an hour', () => {
	const begun = start(1, { hasBegun: true, overtakenAt: 0 });
	const seen = { onWorkers: true, lastOutcomeAt: 0, failedAt: 0 };
	expect(checkStarts([begun], seen, 59 * minute)).toMatchObject({ repeat: [], report: [] });
	expect(checkStarts([begun], seen, 60 * minute)).toMatchObject({ repeat: [], report: [1] });
	expect(checkStarts([{ ...begun, isReported: true }], seen, 60 * minute)).toMatchObject({ repeat: [], report: [] });
});
