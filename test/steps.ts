import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { buildPackage } from '../tools/build.ts';
import { runJest } from '../tools/jest.ts';
import { runNode } from '../tools/run-node.ts';
import type { Step } from '../tools/steps.ts';
import { chromium, installProgram, postgres, redis } from '../tools/system-program.ts';
import { dailyFiles } from './daily.ts';
import { n8nHelpersIn } from './versions/version-steps.ts';
import { oldestVersion } from './versions/versions.ts';

const conformanceConfig = 'test/conformance/jest.config.cjs';
const e2eConfig = 'test/e2e/jest.config.cjs';
const queueConfig = 'test/queue/jest.config.cjs';

/** In parallel, since each keeps one core busy; both print their findings at the end. */
const lintAndTypesWith = (lintArguments: string[]): Step => ({
	name: 'lint, types',
	async run() {
		const compiler = resolve('node_modules', 'typescript', 'bin', 'tsc');
		// Files that have not changed since are not checked again.
		const incrementalOptions = ['--incremental', '--tsBuildInfoFile', resolve('.tmp', 'types.tsbuildinfo')];
		const [isTidy, isTyped] = await Promise.all([
			runNode([resolve('tools', 'lint.ts'), ...lintArguments]),
			runNode([compiler, '-p', 'tsconfig.all.json', ...incrementalOptions]),
		]);
		return { ok: isTidy && isTyped };
	},
});

export const lintAndTypes = lintAndTypesWith([]);

/** The step above, without linting files that have not changed since. */
export const lintAndTypesOfChanges = lintAndTypesWith([
	'--cache', '--cache-strategy', 'content', '--cache-location', resolve('.tmp', 'eslintcache'),
]);

export const build: Step = {
	name: 'build',
	async run() {
		await buildPackage();
		return { ok: true };
	},
};

const foldersOfOtherSteps = ['large', 'conformance', 'e2e', 'queue', 'versions', 'night'].map((folder) => `/test/${folder}/`);
const gate = '/test/gate/';
const runAllBut = async (report: string, patterns: string[]) =>
	await runJest(report, ['--testPathIgnorePatterns', '/node_modules/', ...foldersOfOtherSteps, ...patterns]);

/** The tests that also run against the contract, which checks more. */
const testsOfConformance = (): string[] => {
	const { testMatch } = createRequire(import.meta.url)(resolve(conformanceConfig)) as { testMatch: string[] };
	return testMatch.map((pattern) => pattern.replace('<rootDir>', '').replace('*.test.ts', ''));
};

/** A core of the tests that need neither n8n itself nor a browser. */
export const dailyTests: Step = {
	name: 'daily tests',
	run: () => runJest('daily', dailyFiles()),
};

/** Everything that needs neither n8n itself nor a browser. */
export const unitAndIntegration: Step = {
	name: 'unit, integration',
	run: () => runAllBut('unit', [gate]),
};

/** All tests except those that run against the contract, and n8n's checks of packages for verification, which keep one core busy. */
export const gateUnitAndSandbox: Step = {
	name: 'gate, unit, sandbox',
	needs: ['build'],
	run: () => runAllBut('gate-unit', testsOfConformance()),
};

/** The oldest n8n that is supported; the newest is the one all other tests run in. */
export const oldestN8n: Step = n8nHelpersIn(oldestVersion);

/** Checks the contract, then the service against it: Prism reads every request and answer of the integration tests. */
export const conformance: Step = {
	name: 'integration, conformance',
	async run() {
		const redocly = resolve('node_modules', '@redocly', 'cli', 'bin', 'cli.js');
		const isValid = await runNode([redocly, 'lint', 'contract/openapi.json']);
		const { ok, tests } = await runJest('conformance', ['--config', conformanceConfig]);
		return { ok: isValid && ok, ...(tests && { tests }) };
	},
};

/** What takes long: large sets, many random requests, processes that are killed and restarted. */
export const large: Step = {
	name: 'long tests',
	run: () => runJest('large', ['test/large']),
};

export const endToEnd: Step = {
	name: 'end to end',
	needs: ['build'],
	async run() {
		const reason = await installProgram(chromium);
		return { ...(await runJest('e2e', ['--config', e2eConfig])), reason };
	},
};

/** The browser tests that take the pictures of the documentation. */
export const pictures: Step = {
	name: 'pictures',
	needs: ['build'],
	async run() {
		const reason = await installProgram(chromium);
		const tests = ['pictures', 'assistant', 'newcomer', 'oauth2', 'sandbox-pages'].map((name) => `test/e2e/${name}\\.test`);
		const env = { ...process.env, PICTURES: resolve('docs', 'pictures') };
		return { ...(await runJest('pictures', ['--config', e2eConfig, '--runInBand', ...tests], env)), reason };
	},
};

/** The browser tests in n8n's queue mode: several processes, a queue and PostgreSQL. */
export const queueMode: Step = {
	name: 'queue mode',
	needs: ['build'],
	async run() {
		// PostgreSQL and Redis are installed one after the other, by the same apt-get.
		const reasons = [await installProgram(redis), await installProgram(postgres)];
		const result = await runJest('queue', ['--config', queueConfig, '--runInBand']);
		return { ...result, reason: reasons.filter(Boolean).join(' ') || undefined };
	},
};
