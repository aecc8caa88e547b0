import { runSteps } from '../tools/steps.ts';
import {
	build,
	conformance,
	endToEnd,
	gate,
	large,
	lint,
	oldestN8n,
	queueMode,
	types,
	unitAndIntegration,
} from './steps.ts';

/** npm test: everything. */
const steps = [
	lint,
	types,
	build,
	gate,
	unitAndIntegration,
	oldestN8n,
	conformance,
	large,
	endToEnd,
	queueMode,
];
const isClean = await runSteps(steps, process.env['CI'] !== 'true');
process.exitCode = isClean ? 0 : 1;
