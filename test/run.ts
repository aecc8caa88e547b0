import { runSteps } from '../tools/steps.ts';
import { build, endToEnd, gate, large, lint, types, unitAndIntegration } from './steps.ts';

/** npm test: everything. */
const steps = [lint, types, build, gate, unitAndIntegration, large, endToEnd];
const isClean = await runSteps(steps, process.env['CI'] !== 'true');
process.exitCode = isClean ? 0 : 1;
