import { runSteps } from './support/run-steps.ts';
import { build, dailyTests, lintAndTypes, lintAndTypesOfChanges, unitSandboxAndIntegration } from './steps.ts';

/**
 * npm run check: what daily work needs, within a minute on two cores, with a tenth of the made-up histories.
 * `-- --all` runs all unit, sandbox and integration tests: what is released has passed them.
 */
process.env['HISTORIES'] ??= '0.1';
const steps = process.argv.includes('--all') ? [[lintAndTypes, build], unitSandboxAndIntegration] : [lintAndTypesOfChanges, dailyTests];
process.exitCode = (await runSteps(steps, process.env['CI'] !== 'true')) ? 0 : 1;
