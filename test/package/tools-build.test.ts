import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { takeLock } from '../../tools/lock.mjs';
import { useFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const node = 'nodes/CrmPlatform/Small.node';

describe('A build', () => {
	const running: ChildProcess[] = [];
	afterEach(async () => {
		for (const child of running.splice(0).filter(({ exitCode }) => exitCode === null)) {
			child.kill();
			await once(child, 'exit');
		}
	});

	const inFolder = useFolder();
	beforeEach(() => {
		symlinkSync(resolve('node_modules'), inFolder('node_modules'), 'junction');
		copyFileSync('tsconfig.json', inFolder('tsconfig.json'));
		write('package.json', JSON.stringify({ n8n: { nodes: [`dist/${node}.js`], credentials: [] } }));
		write('contract/openapi.json', '{ "paths": {}, "components": { "schemas": {} } }');
		write('nodes/CrmPlatform/resources/index.ts', 'export const everydayMenu = [], adminMenu = [];');
		writeNode('first');
	});

	function write(file: string, text: string): void {
		mkdirSync(dirname(inFolder(file)), { recursive: true });
		writeFileSync(inFolder(file), text);
	}

	const writeNode = (name: string) =>
		write(`${node}.ts`, `import * as menus from './resources/index'; export const ${name} = menus;`);
	const built = () => readFileSync(inFolder('dist', `${node}.js`), 'utf8');

	/** Starts a build in a process of its own, since jest cannot load the compiler's tools. */
	function startBuild() {
		const script = `import { buildPackage } from ${JSON.stringify(pathToFileURL(resolve('tools', 'build.ts')).href)}; await buildPackage();`;
		const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { cwd: inFolder() });
		running.push(child);
		const ended = once(child, 'close').then(([code]) => code as number);
		const build = { output: '', ended };
		for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (build.output += String(text)));
		return build;
	}

	/** Starts builds while the lock is held, and returns once all of them wait for it. */
	async function startTogether(count: number) {
		const lock = takeLock(inFolder('.tmp', 'build.lock'));
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
		expect(existsSync(inFolder('.tmp', 'compiled', 'half.js'))).toBe(true);
		expect(existsSync(inFolder('dist', 'half.js'))).toBe(true);
		release();

		expect([await builds[0]!.ended, builds[0]!.output]).toEqual([0, expect.stringMatching(/^Waiting.*\n$/)]);
		expect(existsSync(inFolder('dist', 'half.js'))).toBe(false);
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
		expect(existsSync(inFolder('.tmp', 'build.lock'))).toBe(false);
	});
});
