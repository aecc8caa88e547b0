import { runSteps } from '../tools/steps.ts';
import {
	build,
	conformance,
	endToEnd,
	gateUnitAndSandbox,
	large,
	lintAndTypes,
	oldestN8n,
	queueMode,
} from './steps.ts';

/** npm test: everything. */
const steps = [
	lintAndTypes,
	build,
	gateUnitAndSandbox,
	oldestN8n,
	conformance,
	large,
	endToEnd,
	queueMode,
];
const isClean = await runSteps(steps, process.env['CI'] !== 'true');
process.exitCode = isClean ? 0 : 1;
