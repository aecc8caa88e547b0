import { resolve } from 'node:path';
import { buildPackage } from '../tools/build.ts';
import { installN8n } from '../tools/n8n.mjs';
import { runJest } from './support/run-jest.ts';
import { runNode } from '../tools/run-node.ts';
import type { Step } from './support/run-steps.ts';
import { chromium, installProgram, postgres, redis } from './support/system-program.ts';
import { dailyFiles } from './daily.ts';

const conformanceConfig = 'test/contract/jest.config.cjs';
const e2eConfig = 'test/n8n/browser/jest.config.cjs';
const queueConfig = 'test/n8n/queue/jest.config.cjs';

const bin = (name: string, ...path: string[]) => resolve('node_modules', name, ...path);

/** ESLint's rules, TypeScript's types, and knip's search for files, exports and packages that nothing uses. */
const lintAndTypesWith = (lintArguments: string[]): Step => ({
	name: 'lint, types, unused code',
	async run() {
		// Files that have not changed since are not checked again.
		const types = ['-p', 'tsconfig.all.json', '--incremental', '--tsBuildInfoFile', resolve('.tmp', 'types.tsbuildinfo')];
		const knip = [bin('knip', 'bin', 'knip.js'), '--no-progress', '--config', 'test/knip.json'];
		// In parallel; each prints its findings at the end.
		const results = await Promise.all([
			runNode([bin('typescript-7', 'bin', 'tsc'), ...types]),
			runNode(knip),
			runNode([resolve('test', 'support', 'lint.ts'), ...lintArguments]),
		]);
		return { ok: results.every(Boolean) };
	},
});

export const lintAndTypes = lintAndTypesWith([]);

/** The step above, without linting files that have not changed since: a rule that needs types may miss their changes. */
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

const foldersOfOtherSteps = ['contract', 'long', 'n8n'].map((folder) => `/test/${folder}/`);

/** The tests of `npm run check`: see `dailyFiles`. */
export const dailyTests: Step = { name: 'daily tests', run: () => runJest('daily', dailyFiles()) };

/** Everything that needs neither n8n itself, nor a browser, nor minutes. */
export const unitSandboxAndIntegration: Step = {
	name: 'unit, sandbox, integration',
	needs: ['build'],
	run: () => runJest('unit', ['--testPathIgnorePatterns', '/node_modules/', ...foldersOfOtherSteps]),
};

/** Checks the contract, then the sandbox against it: Prism reads the requests and responses of a few test files. */
export const conformance: Step = {
	name: 'contract',
	async run() {
		const redocly = bin('@redocly', 'cli', 'bin', 'cli.js');
		const isValid = await runNode([redocly, 'lint', 'contract/openapi.json', '--config', 'test/redocly.yaml']);
		const { ok, tests } = await runJest('conformance', ['--config', conformanceConfig]);
		return { ok: isValid && ok, ...(tests && { tests }) };
	},
};

/** What takes long: large sets, many random requests, processes that are killed and restarted. */
export const large: Step = {
	name: 'long tests',
	async run() {
		// The time limit of no test includes minutes of installation.
		await installN8n();
		return await runJest('long', ['test/long', 'test/n8n/kills']);
	},
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
		const files = ['pictures', 'approval', 'assistant', 'newcomer', 'oauth2', 'sandbox-pages'];
		const tests = files.map((name) => `test/n8n/browser/${name}\\.test`);
		const env = { ...process.env, PICTURES: resolve('docs', 'pictures') };
		return { ...(await runJest('pictures', ['--config', e2eConfig, '--runInBand', ...tests], env)), reason };
	},
};

/** The browser tests in n8n's queue mode: several processes, a queue and PostgreSQL. */
export const queueMode: Step = {
	name: 'queue mode',
	needs: ['build'],
	async run() {
		const reasons = await Promise.all([installProgram(redis), installProgram(postgres)]);
		const result = await runJest('queue', ['--config', queueConfig, '--runInBand']);
		return { ...result, reason: reasons.filter(Boolean).join(' ') || undefined };
	},
};
