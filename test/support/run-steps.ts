import { duration } from '../../tools/progress.mjs';

/** The results of one step's tests. */
export interface TestCounts {
	passed: number;
	failed: number;
	/** The full names of the tests that did not run. */
	skipped: string[];
}

export interface StepResult {
	ok: boolean;
	tests?: TestCounts;
	/** Why tests were skipped. */
	reason?: string | undefined;
}

/** One part of `npm test` or `npm run check`. */
export interface Step {
	name: string;
	/** Steps that must have passed, because otherwise this step would only repeat their failure. */
	needs?: string[];
	run(): Promise<StepResult>;
}

interface Outcome extends StepResult {
	name: string;
	status: 'passed' | 'failed' | 'skipped';
	ms: number;
}

/** A step; or several, one after the other, those of a list among them side by side, and so on by turns. */
type Steps = Step | Steps[];

/**
 * Runs steps, each under a heading, and prints a summary. The last line printed is `N passed, N failed`, with `, N skipped` at
 * its end if tests were skipped.
 *
 * @param maySkip whether the run succeeds despite skipped tests; not in CI, which must provide
 * everything that tests need
 * @returns whether everything passed
 */
export async function runSteps(steps: Steps, maySkip: boolean): Promise<boolean> {
	const outcomes: Outcome[] = [];
	const run = async (some: Steps, areInOrder: boolean): Promise<unknown> => {
		if (!Array.isArray(some)) return outcomes.push(await runStep(some, outcomes));
		if (!areInOrder) return await Promise.all(some.map(async (each) => await run(each, true)));
		for (const each of some) await run(each, false);
	};
	await run(steps, true);
	const isClean = outcomes.every(({ status }) => status === 'passed');
	const hasSkipped = outcomes.some(({ tests }) => tests && tests.skipped.length > 0);
	console.log(summary(outcomes));
	if (hasSkipped && !maySkip) console.log('Under CI=true a skipped test is a failure.\n');
	console.log(totals(outcomes));
	return isClean && (maySkip || !hasSkipped);
}

async function runStep(step: Step, earlierOutcomes: Outcome[]): Promise<Outcome> {
	const { name, needs = [] } = step;
	console.log(`\n── ${name} ${'─'.repeat(Math.max(0, 70 - name.length))}\n`);
	const unmet = earlierOutcomes.find((outcome) => needs.includes(outcome.name) && outcome.status !== 'passed');
	if (unmet) {
		const reason = `needs ${unmet.name}, which has ${unmet.status}`;
		console.log(`Skipped: ${reason}.`);
		return { name, status: 'skipped', ms: 0, ok: false, reason };
	}
	const startedAt = Date.now();
	const result = await step.run().catch((error: unknown) => {
		console.error(error);
		return { ok: false };
	});
	const status = result.ok ? 'passed' : 'failed';
	return { name, status, ms: Date.now() - startedAt, ...result };
}

function summary(outcomes: Outcome[]): string {
	const lines = outcomes.flatMap(({ name, status, ms, tests, reason }) => {
		const skipped = tests?.skipped ?? [];
		const counts = tests ? [`${tests.passed} passed, ${tests.failed} failed`] : [];
		const reasons = status === 'skipped' || skipped.length > 0 ? [reason ?? 'as the tests say'] : [];
		const head = `  ${status.padEnd(8)} ${name.padEnd(18)} ${duration(ms).padStart(10)}  `;
		return [
			head + [...counts, ...reasons].join('; '),
			...skipped.map((test) => `  skipped    ${test}`),
		];
	});
	return ['\n── summary ' + '─'.repeat(63), '', ...lines, ''].join('\n');
}

function totals(outcomes: Outcome[]): string {
	const all = outcomes.flatMap(({ tests }) => tests ?? []);
	const passed = all.reduce((sum, tests) => sum + tests.passed, 0);
	const failed = all.reduce((sum, tests) => sum + tests.failed, 0);
	const skipped = all.reduce((sum, tests) => sum + tests.skipped.length, 0);
	return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
