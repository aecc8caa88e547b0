import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod/v4';
import { runNode } from '../../tools/run-node.ts';
import type { StepResult, TestCounts } from './run-steps.ts';

/** The part of jest's JSON report that is used here. */
const Report = z.object({
	numPassedTests: z.number(),
	numFailedTests: z.number(),
	/** Test files that failed to load, so their tests cannot be counted. */
	numRuntimeErrorTestSuites: z.number(),
	testResults: z.array(z.object({ assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })) })),
});

/**
 * Runs jest.
 *
 * @param name the name of the report's file
 * @param args jest's arguments: which tests, and how
 * @param env its environment; by default that of this process
 */
export async function runJest(
	name: string,
	args: string[],
	env = process.env,
): Promise<StepResult> {
	const report = resolve('.tmp', 'jest', `${name}.json`);
	mkdirSync(dirname(report), { recursive: true });
	rmSync(report, { force: true });
	const jest = resolve('node_modules', 'jest', 'bin', 'jest.js');
	const ok = await runNode([jest, ...args, '--json', `--outputFile=${report}`], env);
	// Jest ended before running any test and has printed the reason.
	if (!existsSync(report)) return { ok: false, tests: { passed: 0, failed: 1, skipped: [] } };
	return { ok, tests: countTests(readFileSync(report, 'utf8')) };
}

/** @param report jest's JSON report */
export function countTests(report: string): TestCounts {
	const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, testResults } = Report.parse(JSON.parse(report));
	const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
	return {
		passed: numPassedTests,
		failed: numFailedTests + numRuntimeErrorTestSuites,
		skipped: tests
			.filter(({ status }) => status === 'pending' || status === 'todo')
			.map(({ fullName }) => fullName),
	};
}
