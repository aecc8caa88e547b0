import { runSteps } from '../tools/steps.ts';
import {
	build,
	conformance,
	endToEnd,
	gate,
	large,
	lintAndTypes,
	oldestN8n,
	queueMode,
	unitAndSandbox,
} from './steps.ts';

/** npm test: everything. */
const steps = [
	lintAndTypes,
	build,
	gate,
	unitAndSandbox,
	oldestN8n,
	conformance,
	large,
	endToEnd,
	queueMode,
];
const isClean = await runSteps(steps, process.env['CI'] !== 'true');
process.exitCode = isClean ? 0 : 1;
