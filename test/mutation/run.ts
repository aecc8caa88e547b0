import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod/v4';
import { cacheFolder, installOnce } from '../../tools/cache.mjs';
import { Failure } from '../../tools/failure.mjs';
import { npm } from '../../tools/npm.mjs';
import { showProgress } from '../../tools/progress.mjs';
import { runNode } from '../../tools/run-node.ts';
import { equivalent } from './equivalent.ts';
import { groups, type Group } from './modules.ts';

/** The share of changed decisions that tests must notice. Delete `.tmp/mutation` to run again what was noticed before. */
const leastShare = 0.9;

const Mutant = z.looseObject({
	mutatorName: z.string(),
	replacement: z.string().optional(),
	status: z.string(),
	location: z.looseObject({ start: z.looseObject({ line: z.number() }) }),
});
const Report = z.looseObject({ files: z.record(z.string(), z.looseObject({ mutants: z.array(Mutant) })) });

const manifest = resolve('test', 'mutation', 'stryker');

/** Stryker is installed at its first use, as daily work does not need it. */
async function installStryker(): Promise<string> {
	const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(manifest, 'package.json'), 'utf8')));
	const folder = join(cacheFolder(), `stryker-${version}`);
	await installOnce(folder, async (temporary) => {
		for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(manifest, file), join(temporary, file));
		await showProgress('Installing Stryker (half a minute, once per machine)', () =>
			npm(['install', '--ignore-scripts'], { subject: 'stryker', cwd: temporary }),
		);
	});
	return join(folder, 'node_modules', '@stryker-mutator');
}

async function mutateGroup(stryker: string, { name, modules, tests }: Group): Promise<boolean> {
	const folder = resolve('.tmp', 'mutation', name);
	mkdirSync(folder, { recursive: true });
	const reportFile = join(folder, 'report.json');
	const settings = {
		testRunner: 'jest',
		plugins: [join(stryker, 'jest-runner', 'dist', 'src', 'index.js')],
		mutate: modules,
		jest: {
			configFile: 'jest.config.js',
			config: {
				testEnvironment: './test/environment.cjs',
				testMatch: tests.map((test) => `<rootDir>/test/${test}*.test.ts`),
				runner: './test/mutation/runner.cjs',
				// Notices changes that make a test wait forever: with so few histories, a test takes a second.
				testTimeout: 10_000,
			},
			enableFindRelatedTests: false,
		},
		incremental: true,
		incrementalFile: forgetUnnoticed(join(folder, 'incremental.json')),
		coverageAnalysis: 'perTest',
		concurrency: availableParallelism(),
		tempDirName: join(folder, 'copy'),
		ignorePatterns: ['.demo', '.tmp', 'dist', '/docs'],
		// The tests run without the compiler.
		tsconfigFile: 'none',
		disableTypeChecks: false,
		checkers: [],
		reporters: ['json', 'progress-append-only'],
		jsonReporter: { fileName: reportFile },
		// Texts are read by people; tests of every word would mirror them.
		mutator: { excludedMutations: ['StringLiteral', 'Regex'] },
		timeoutMS: 15_000,
		// A busy machine must not make a change count as noticed.
		timeoutFactor: 3,
		allowEmpty: false,
	};
	const config = join(folder, 'stryker.config.json');
	writeFileSync(config, JSON.stringify(settings, undefined, '\t'));
	process.env['HISTORIES'] ??= '0.1';
	await runNode([join(stryker, 'core', 'bin', 'stryker.js'), 'run', config]);
	return existsSync(reportFile) && report(name, Report.parse(JSON.parse(readFileSync(reportFile, 'utf8'))));
}

/** Changes that no test noticed run again, as there may be a new test. */
function forgetUnnoticed(file: string): string {
	if (!existsSync(file)) return file;
	const results = Report.parse(JSON.parse(readFileSync(file, 'utf8')));
	for (const fileResult of Object.values(results.files)) {
		fileResult.mutants = fileResult.mutants.filter(({ status }) => !['Survived', 'NoCoverage'].includes(status));
	}
	writeFileSync(file, JSON.stringify(results));
	return file;
}

/** Prints the changes that no test noticed. Returns whether enough were noticed. */
function report(name: string, { files }: z.infer<typeof Report>): boolean {
	const all = Object.entries(files).flatMap(([file, { mutants }]) => {
		const lines = readFileSync(file, 'utf8').split('\n');
		return mutants.map(({ mutatorName, replacement = '', status, location: { start } }) => {
			// Named by its source line: line numbers change with every edit above it.
			const source = lines[start.line - 1]?.trim() ?? '';
			const change = `${source} | ${mutatorName} → ${replacement.replace(/\s+/g, ' ').slice(0, 100)}`;
			return { status, change, isEquivalent: equivalent[basename(file)]?.has(change), place: `${file}:${start.line}` };
		});
	});
	const counted = all.filter(({ status, isEquivalent }) => !isEquivalent && !['Ignored', 'CompileError'].includes(status));
	const killed = counted.filter(({ status }) => status === 'Killed').length;
	const timedOut = counted.filter(({ status }) => status === 'Timeout').length;
	// A change that breaks the run itself proves nothing.
	const missed = counted.filter(({ status }) => status !== 'Killed' && status !== 'Timeout');
	const share = (killed + timedOut) / counted.length;
	for (const { status, place, change } of missed) console.log(`${status}: ${place} ${change}`);
	console.log(`${name}: of ${counted.length} changes, tests noticed ${killed}, a time limit ${timedOut}, nothing ${missed.length} (${(share * 100).toFixed(1)} %).\n`);
	return share >= leastShare;
}

/** @returns whether enough changes were noticed in each group */
export async function mutate(requestedNames: string[]): Promise<boolean> {
	const chosen = groups.flatMap((group) => {
		if (requestedNames.length === 0 || requestedNames.includes(group.name)) return [group];
		const modules = group.modules.filter((path) => requestedNames.some((part) => path.includes(part)));
		return modules.length > 0 ? [{ ...group, modules }] : [];
	});
	if (chosen.length === 0) {
		throw new Failure(`There is no group or module ${requestedNames.join(', ')}. The groups: ${groups.map(({ name }) => name).join(', ')}.`);
	}
	const stryker = await installStryker();
	const results: boolean[] = [];
	for (const group of chosen) results.push(await mutateGroup(stryker, group));
	return results.every(Boolean);
}
