import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod/v4';
import { buildPackage } from './build.ts';
import { Failure, reportFailure } from './failure.mjs';
import { runNode } from './run-node.ts';
import { packPackage, readManifest } from './pack.ts';
import { parseChangelog, refusals, releaseBranch, type ReleaseState } from './release-refusals.ts';

const helpText = `
npm run release -- --dry-run   Checks that this clone can be released, builds and packs it, runs
                               n8n's verification on the tarball, and says what a release would do.
npm run release                The same, then tags the commit and pushes the tag: the workflow
                               release.yml publishes it.
npm run release -- --tag v1.2.3   What that workflow runs: the same for a tag that is checked out.

The tarball and the release notes are written to .tmp/release.
`;

const outputFolder = resolve('.tmp', 'release');

const Lock = z.object({
	version: z.string(),
	packages: z.object({ '': z.object({ version: z.string() }) }),
});

async function release(): Promise<void> {
	const { values } = parseArgs({
		options: {
			'dry-run': { type: 'boolean', default: false },
			tag: { type: 'string' },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) return console.log(helpText);
	const state = readState(values.tag);
	const reasons = refusals(state);
	if (reasons.length > 0) {
		throw new Failure(['Not released:', ...reasons.map((reason) => `  - ${reason}`)].join('\n'));
	}
	const tarball = await packVerified();
	const notes = state.changelog.find(({ version }) => version === state.version)?.notes ?? '';
	writeFileSync(join(outputFolder, 'notes.md'), `${notes}\n`);

	const tag = `v${state.version}`;
	console.log(`\n${tag} can be released: ${tarball}\n\n${notes}\n`);
	if (values.tag !== undefined) return;
	const commands = [
		['tag', '--annotate', tag, '--message', tag],
		['push', 'origin', releaseBranch, tag],
	];
	for (const args of commands) {
		if (values['dry-run']) console.log(`Would run: git ${args.join(' ')}`);
		else git(args);
	}
	console.log(
		`${values['dry-run'] ? 'The workflow Release would then publish' : 'The workflow Release publishes'} ` +
			`${state.version} on npm with its provenance, and the notes on GitHub.`,
	);
}

function readState(tag: string | undefined): ReleaseState {
	const { version } = readManifest();
	const lock = Lock.parse(JSON.parse(readFileSync('package-lock.json', 'utf8')));
	const head = lines(git(['tag', '--points-at', 'HEAD']));
	return {
		version,
		lockedVersions: [...new Set([lock.version, lock.packages[''].version])],
		branch: git(['branch', '--show-current']).trim(),
		tag,
		tags: { head, others: lines(git(['tag', '--list'])).filter((tagName) => !head.includes(tagName)) },
		changedFiles: lines(git(['status', '--porcelain'])).map((line) => line.slice(3)),
		changelog: parseChangelog(readFileSync('CHANGELOG.md', 'utf8')),
	};
}

/**
 * Builds and packs the package, and runs n8n's verification on it.
 *
 * @returns the path of the tarball
 * @throws {Failure} if the verification finds anything
 */
async function packVerified(): Promise<string> {
	rmSync(outputFolder, { recursive: true, force: true });
	mkdirSync(outputFolder, { recursive: true });
	await buildPackage();
	const ok = await runNode([resolve('node_modules', 'jest', 'bin', 'jest.js'), 'test/package/gate']);
	if (!ok) throw new Failure("Not released: n8n's verification would refuse the package, see above.");
	// The name has no version, so that the workflow knows it.
	const tarball = join(outputFolder, 'package.tgz');
	copyFileSync(await packPackage(outputFolder), tarball);
	return tarball;
}

function git(args: string[]): string {
	return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

function lines(text: string): string[] {
	return text.split('\n').filter(Boolean);
}

release().catch(reportFailure);
