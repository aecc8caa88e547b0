import { runSteps } from './support/run-steps.ts';
import { build, pictures } from './steps.ts';

/** npm run pictures: the pictures of the documentation, taken in a real n8n. */
process.exitCode = (await runSteps([build, pictures], false)) ? 0 : 1;
