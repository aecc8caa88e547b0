import { runSteps } from '../tools/steps.ts';
import { build, conformance, endToEnd, gateUnitAndSandbox, large, lintAndTypes, oldestN8n, queueMode } from './steps.ts';

/** npm test: the tests of a release. Those that run by hand are in test/README.md. */
const steps = [lintAndTypes, build, gateUnitAndSandbox, oldestN8n, conformance, large, endToEnd, queueMode];
process.exitCode = (await runSteps(steps, process.env['CI'] !== 'true')) ? 0 : 1;
