import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { runJest } from '../support/run-jest.ts';
import type { Step } from '../support/run-steps.ts';
import { installCore } from './install-core.ts';
import { tooOldVersion } from './versions.ts';

const jestConfig = 'test/versions/jest.config.cjs';

/** The tests of what differs between versions: n8n's helpers, credentials, triggers, agents. */
const testsOfN8nHelpers = [
	'agent',
	'api-request',
	'batch-failures',
	'changes-events',
	'credential',
	'expressions',
	'failures',
	'oauth2',
	'trigger-delivery',
	'trigger-lifecycle',
	'waiting',
].map((name) => {
	const file = `test/integration/${name}.test.ts`;
	if (!existsSync(file)) throw new Error(`${file} is missing: name the file that has replaced it.`);
	return file;
});

/** The integration tests of what n8n's helpers do, in a version of n8n-core. */
export const n8nHelpersIn = (version: string): Step =>
	testsIn(version, [...testsOfN8nHelpers, '--testPathIgnorePatterns', 'too-old']);

/** All integration tests in a version of n8n-core. */
export const integrationTestsIn = (version: string): Step =>
	testsIn(version, ['test/integration', '--testPathIgnorePatterns', 'too-old']);

/** The tests of the node in an n8n that is too old for it. */
export const refusalIn = (version = tooOldVersion): Step => testsIn(version, ['test/versions/too-old']);

/** The tests of a whole n8n that need neither its editor nor later features, in the oldest n8n. */
export const endToEndInOldest: Step = {
	name: 'end to end in the oldest n8n',
	needs: ['build'],
	async run() {
		const env = { ...process.env, E2E_N8N: resolve('test', 'versions', 'n8n') };
		const tests = ['credential', 'errors', 'operations', 'retries'].map((name) => `test/e2e/${name}\\.test`);
		return await runJest('e2e-oldest', ['--config', 'test/e2e/jest.config.cjs', '--runInBand', ...tests], env);
	},
};

function testsIn(version: string, tests: string[]): Step {
	return {
		name: `n8n-core ${version}`,
		async run() {
			const env = { ...process.env, N8N_CORE_INSTALLATION: await installCore(version) };
			return await runJest(`n8n-core-${version}`, ['--config', jestConfig, ...tests], env);
		},
	};
}
