import { countTests } from '../support/run-jest.ts';
import { runSteps } from '../support/run-steps.ts';
import type { Step, TestCounts } from '../support/run-steps.ts';

describe('A run of steps', () => {
	let printed: string[];

	beforeEach(() => {
		printed = [];
		jest.spyOn(console, 'log').mockImplementation((line: string) => printed.push(line));
	});

	afterEach(() => jest.restoreAllMocks());

	const step = (name: string, ok = true, more: Partial<Step & { tests: TestCounts }> = {}) => ({
		name,
		...more,
		run: async () => ({ ok, ...(more.tests ? { tests: more.tests } : {}) }),
	});
	const counts = (passed: number, failed: number, skipped: string[] = []) => ({ tests: { passed, failed, skipped } });

	test('ends with the sum of all tests, alone on its line', async () => {
		const steps = [[step('lint'), step('one', true, counts(2, 0))], step('two', false, counts(3, 1))];

		expect(await runSteps(steps, true)).toBe(false);
		expect(printed.at(-1)).toBe('5 passed, 1 failed');
	});

	test.each([true, false])('names skipped tests, and is a success only if tests may be skipped: %p', async (mayBeSkipped) => {
		const steps = [step('browser', true, counts(2, 0, ['a node is opened']))];

		expect(await runSteps(steps, mayBeSkipped)).toBe(mayBeSkipped);
		expect(printed.at(-1)).toBe('2 passed, 0 failed, 1 skipped');
		expect(printed.join('\n')).toContain('a node is opened');
	});

	test('leaves out a step whose prerequisite has failed, reports it, and continues', async () => {
		const steps = [[step('lint'), [step('build', false), step('gate', true, { needs: ['build'] })]], step('unit')];

		expect(await runSteps(steps, true)).toBe(false);
		expect(printed.join('\n')).toMatch(/skipped +gate .*needs build, which has failed/);
		expect(printed.join('\n')).toMatch(/passed +unit/);
	});
});

test('a test file that could not be loaded counts as a failed test', () => {
	const report = {
		numPassedTests: 1,
		numFailedTests: 1,
		numRuntimeErrorTestSuites: 1,
		testResults: [
			{ assertionResults: [{ fullName: 'passes', status: 'passed' }] },
			{ assertionResults: [{ fullName: 'is not run', status: 'pending' }] },
		],
	};

	expect(countTests(JSON.stringify(report))).toEqual({ passed: 1, failed: 2, skipped: ['is not run'] });
});
