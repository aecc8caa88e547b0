import { parseArgs } from 'node:util';
import { build } from '../../steps.ts';
import { runSteps } from '../../support/run-steps.ts';
import { docker } from './docker.ts';
import { nodesIn } from './version-steps.ts';
import { versionsBetween, newest, oldestVersion } from './versions.ts';

const helpText = `
npm test -- --matrix                    The tests of the nodes in every version of n8n that is supported.
npm test -- --matrix --n8n 2.25.0    The same in that one.
npm test -- --matrix --docker next   A workflow in n8n's Docker image of that tag.
`;

/** @param args of `npm test -- --matrix` */
export async function runMatrix(args: string[]): Promise<boolean> {
	const { values } = parseArgs({
		args,
		options: {
			n8n: { type: 'string' },
			docker: { type: 'string' },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		console.log(helpText);
		return true;
	}
	const versions = values.n8n ? [values.n8n] : [oldestVersion, ...versionsBetween, newest()];
	const steps = values.docker ? [build, docker(values.docker)] : versions.map(nodesIn);
	return await runSteps(steps, process.env['CI'] !== 'true');
}
