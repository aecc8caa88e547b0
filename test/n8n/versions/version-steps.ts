import { runJest } from '../../support/run-jest.ts';
import type { Step } from '../../support/run-steps.ts';
import { installCore } from './install-core.ts';

const jestConfig = 'test/n8n/versions/jest.config.cjs';

const withoutOtherSteps = ['--testPathIgnorePatterns', '/test/(architecture|contract|long|n8n|package|sandbox)/'];

/** All tests of the nodes in a version of n8n-core. */
export const nodesIn = (version: string): Step => ({
	name: `n8n-core ${version}`,
	async run() {
		const env = { ...process.env, N8N_CORE_INSTALLATION: await installCore(version) };
		return await runJest(`n8n-core-${version}`, ['--config', jestConfig, ...withoutOtherSteps], env);
	},
});
