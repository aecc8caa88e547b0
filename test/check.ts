import { runSteps } from '../tools/steps.ts';
import { lint, types, unitAndIntegration } from './steps.ts';

/** npm run check: what daily work needs, in under two minutes. */
const isClean = await runSteps([lint, types, unitAndIntegration], process.env['CI'] !== 'true');
process.exitCode = isClean ? 0 : 1;
