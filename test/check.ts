import { runSteps } from '../tools/steps.ts';
import { dailyTests, lintAndTypes, lintAndTypesOfChanges, unitAndIntegration } from './steps.ts';

/**
 * npm run check: what daily work needs, within two minutes on two cores, with a tenth of the made-up histories.
 * `-- --all` runs all unit and integration tests: what is released has passed them.
 */
process.env['HISTORIES'] ??= '0.1';
const steps = process.argv.includes('--all') ? [lintAndTypes, unitAndIntegration] : [lintAndTypesOfChanges, dailyTests];
process.exitCode = (await runSteps(steps, process.env['CI'] !== 'true')) ? 0 : 1;
