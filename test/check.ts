import { runSteps } from '../tools/steps.ts';
import { lintAndTypes, unitAndIntegration } from './steps.ts';

/** npm run check: what daily work needs, in some four minutes on two cores, with a tenth of the made-up histories. */
process.env['HISTORIES'] ??= '0.1';
const isClean = await runSteps([lintAndTypes, unitAndIntegration], process.env['CI'] !== 'true');
process.exitCode = isClean ? 0 : 1;
