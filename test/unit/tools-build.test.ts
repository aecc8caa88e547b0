import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { takeLock } from '../../tools/lock.mjs';
import { until } from '../until.ts';

const node = 'nodes/CrmPlatform/Small.node';

describe('A build', () => {
	let folder: string;
	let running: ChildProcess[];

	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), 'build-'));
		running = [];
		symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction');
		copyFileSync('tsconfig.json', join(folder, 'tsconfig.json'));
		write('package.json', JSON.stringify({ n8n: { nodes: [`dist/${node}.js`], credentials: [] } }));
		write('contract/openapi.json', '{ "paths": {}, "components": { "schemas": {} } }');
		write('nodes/CrmPlatform/resources/index.ts', 'export const everydayMenu = [], adminMenu = [];');
		writeNode('first');
	});

	afterEach(async () => {
		for (const child of running.filter(({ exitCode }) => exitCode === null)) {
			child.kill();
			await once(child, 'exit');
		}
		rmSync(folder, { recursive: true, force: true });
	});

	function write(file: string, text: string): void {
		mkdirSync(dirname(join(folder, file)), { recursive: true });
		writeFileSync(join(folder, file), text);
	}

	const writeNode = (name: string) =>
		write(`${node}.ts`, `import * as menus from './resources/index'; export const ${name} = menus;`);
	const built = () => readFileSync(join(folder, 'dist', `${node}.js`), 'utf8');

	/** Starts a build in a process of its own, since jest cannot load the compiler's tools. */
	function startBuild() {
		const script = `import { buildPackage } from ${JSON.stringify(pathToFileURL(resolve('tools', 'build.ts')).href)}; await buildPackage();`;
		const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { cwd: folder });
		running.push(child);
		const ended = once(child, 'close').then(([code]) => code as number);
		const build = { output: '', ended };
		for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (build.output += String(text)));
		return build;
	}

	/** Holds the lock until as many builds wait for it. */
	async function startTogether(count: number) {
		const lock = takeLock(join(folder, '.tmp', 'build.lock'));
		if ('holder' in lock) throw new Error(`held by ${lock.holder}`);
		const builds = Array.from({ length: count }, startBuild);
		for (const build of builds) {
			await Promise.race([build.ended, until(() => build.output.includes('Waiting'))]);
			expect(build.output).toBe(`Waiting for another process that is building the package in this folder (process ${process.pid}) ...\n`);
		}
		return { builds, release: lock.release };
	}

	test('leaves another process’s build alone, and builds once that has ended', async () => {
		write('.tmp/compiled/half.js', '');
		write('dist/half.js', '');

		const { builds, release } = await startTogether(1);
		expect(existsSync(join(folder, '.tmp', 'compiled', 'half.js'))).toBe(true);
		expect(existsSync(join(folder, 'dist', 'half.js'))).toBe(true);
		release();

		expect([await builds[0]!.ended, builds[0]!.output]).toEqual([0, expect.stringMatching(/^Waiting.*\n$/)]);
		expect(existsSync(join(folder, 'dist', 'half.js'))).toBe(false);
		expect(built()).toContain('first');
	});

	test('that has waited uses the other build, unless the sources have changed since', async () => {
		const both = await startTogether(2);
		both.release();
		expect(await Promise.all(both.builds.map(({ ended }) => ended))).toEqual([0, 0]);
		const reused = both.builds.filter(({ output }) => output.includes('has built the same sources'));
		expect(reused).toHaveLength(1);

		const later = await startTogether(1);
		writeNode('second');
		later.release();
		expect(await later.builds[0]!.ended).toBe(0);
		expect(built()).toContain('second');
	});

	test('does not wait for a process that was killed during its build', async () => {
		const { pid } = spawnSync(process.execPath, ['--eval', '']);
		write('.tmp/build.lock', String(pid));

		const build = startBuild();
		expect([await build.ended, build.output]).toEqual([0, '']);
		expect(existsSync(join(folder, '.tmp', 'build.lock'))).toBe(false);
	});
});
