import { reportFailure } from '../tools/failure.mjs';
import { runSteps } from './support/run-steps.ts';
import { build, conformance, endToEnd, large, lintAndTypes, queueMode, unitSandboxAndIntegration } from './steps.ts';
import { runMatrix } from './n8n/versions/run.ts';

/**
 * npm test: the tests of a release. Those that run by hand are in test/README.md.
 * `npm test -- --matrix`: the tests of the nodes in other versions of n8n.
 */
if (process.argv[2] === '--matrix') await runMatrix(process.argv.slice(3)).catch(reportFailure);
else {
	const steps = [lintAndTypes, build, unitSandboxAndIntegration, conformance, large, endToEnd, queueMode];
	process.exitCode = (await runSteps(steps, process.env['CI'] !== 'true')) ? 0 : 1;
}
