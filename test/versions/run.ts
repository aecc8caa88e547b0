import { parseArgs } from 'node:util';
import { build } from '../steps.ts';
import { reportFailure } from '../../tools/failure.mjs';
import { runSteps } from '../../tools/steps.ts';
import { docker } from './docker.ts';
import { endToEndInOldest, integrationTestsIn, refusalIn } from './version-steps.ts';
import { versionsBetween, newest, oldestVersion } from './versions.ts';

const helpText = `
npm run matrix                    The integration tests in every version of n8n that is supported.
npm run matrix -- --n8n 2.25.0    The same in that one.
npm run matrix -- --end-to-end    The end-to-end tests in the oldest n8n.
npm run matrix -- --docker next   A workflow in n8n's Docker image of that tag.
`;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			n8n: { type: 'string' },
			docker: { type: 'string' },
			'end-to-end': { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) return console.log(helpText);
	const versions = values.n8n ? [values.n8n] : [oldestVersion, ...versionsBetween, newest()];
	const refusal = values.n8n ? [] : [refusalIn()];
	const steps = values.docker
		? [build, docker(values.docker)]
		: values['end-to-end']
			? [build, endToEndInOldest]
			: [...refusal, ...versions.map(integrationTestsIn)];
	process.exitCode = (await runSteps(steps, process.env['CI'] !== 'true')) ? 0 : 1;
}

main().catch(reportFailure);
