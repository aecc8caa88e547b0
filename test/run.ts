import { Failure, reportFailure } from '../tools/failure.mjs';
import { mutate } from './mutation/run.ts';
import { runMatrix } from './n8n/versions/run.ts';
import { build, conformance, endToEnd, large, lintAndTypes, pictures, queueMode, unitSandboxAndIntegration } from './steps.ts';
import { runJest } from './support/run-jest.ts';
import { runSteps } from './support/run-steps.ts';

/** npm test: the tests of a release. With one of these options, what takes longer or is needed rarely: test/README.md. */
const others: Record<string, (args: string[]) => Promise<boolean>> = {
	'--matrix': runMatrix,
	'--mutate': mutate,
	'--pictures': async () => await runSteps([build, pictures], false),
	/** Of one test, 20,000 histories of an undo or as many times as many as in `npm test`. */
	async '--histories'([test = 'test/undo/histories', times = '200']) {
		return (await runJest('histories', [test], { ...process.env, HISTORIES: times })).ok;
	},
};

const [option, ...args] = process.argv.slice(2);
// What leaves a core idle runs beside something else.
const all = [[lintAndTypes, [build, unitSandboxAndIntegration]], [conformance, large], [endToEnd, queueMode]];
try {
	const chosen = option === undefined ? async () => await runSteps(all, process.env['CI'] !== 'true') : others[option];
	if (!chosen) throw new Failure(`There is no ${option}, only ${Object.keys(others).join(', ')}.`);
	process.exitCode = (await chosen(args)) ? 0 : 1;
} catch (error) {
	reportFailure(error);
}
