import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';

import { n8nEnvironment } from '../../demo/n8n-environment.ts';
import { freePort } from '../../demo/ports.ts';
import { installOnce } from '../../tools/cache.mjs';
import { mustForward } from '../../tools/child.mjs';
import { areDependenciesCurrent } from '../../tools/dependencies.mjs';
import { withNodeFirst } from '../../tools/environment.mjs';
import { takeLock } from '../../tools/lock.mjs';
import { explainNpm } from '../../tools/npm-errors.mjs';
import { parseArguments } from '../../tools/script.mjs';
import { useFolder } from '../support/temporary-folder.ts';

describe('An installation', () => {
	const inFolder = useFolder();
	const place = () => inFolder('program');

	const write = (name: string) => async (folder: string) => {
		writeFileSync(join(folder, name), '');
	};

	test('that fails does not count as complete, and the next one removes it', async () => {
		const interrupted = async (folder: string) => {
			await write('half')(folder);
			throw new Error('interrupted');
		};
		await expect(installOnce(place(), interrupted)).rejects.toThrow('interrupted');
		expect(existsSync(place())).toBe(false);

		await installOnce(place(), write('file'));

		expect(readdirSync(place())).toEqual(['file']);
		expect(readdirSync(inFolder())).toEqual(['program']);
	});

	test('is made by one of two simultaneous processes, and the other waits for it', async () => {
		const createdEntries: string[] = [];
		const waiting: number[] = [];
		let noticed = () => {};
		const otherWaits = new Promise<void>((resolve) => (noticed = resolve));
		// The first one continues only when the other one waits.
		const install = async (name: string) =>
			await installOnce(
				place(),
				async (folder: string) => {
					createdEntries.push(name);
					await otherWaits;
					await write(name)(folder);
				},
				(holder) => {
					waiting.push(holder);
					noticed();
				},
			);

		await Promise.all([install('first'), install('second')]);

		expect(createdEntries).toHaveLength(1);
		expect(readdirSync(place())).toEqual(createdEntries);
		expect(waiting).toEqual([process.pid]);
	});
});

const lockText = '{ "lockfileVersion": 3 }';
const stamp = createHash('sha256').update(lockText).digest('hex');

describe("The project's packages", () => {
	const inFolder = useFolder();
	beforeEach(() => write('package-lock.json', lockText, 0));

	/** Writes a file as it would have been that many minutes after the lock file. */
	function write(name: string, text: string, minutes: number): void {
		const file = inFolder(name);
		mkdirSync(dirname(file), { recursive: true });
		writeFileSync(file, text);
		const time = new Date(Date.UTC(2026, 10, 21, 12, minutes));
		utimesSync(file, time, time);
	}

	test.each<[string, Array<[name: string, text: string, minutes: number]>, boolean]>([
		['missing in a new clone', [], false],
		['missing if an installation was interrupted before npm wrote its record', [['node_modules/.package-lock.sha256', stamp, 1]], false],
		['current when npm finished after the lock file was written', [['node_modules/.package-lock.json', '{}', 1]], true],
		['outdated when the lock file is newer', [['node_modules/.package-lock.json', '{}', -1]], false],
		[
			'current when the lock file is newer but has the same content',
			[['node_modules/.package-lock.json', '{}', -1], ['node_modules/.package-lock.sha256', stamp, -1]],
			true,
		],
	])('are %s', (_, files, areCurrent) => {
		for (const file of files) write(...file);
		expect(areDependenciesCurrent(inFolder(), false)).toBe(areCurrent);
	});

	test('are incomplete for the tests after an installation for a start', () => {
		const manifest = { devDependencies: { jest: '1.0.0', '@swc/jest': '1.0.0' } };
		write('test/package.json', JSON.stringify(manifest), 0);
		write('node_modules/jest/package.json', '{}', 1);
		write('node_modules/.package-lock.json', '{}', 1);

		expect(areDependenciesCurrent(inFolder(), false)).toBe(true);
		expect(areDependenciesCurrent(inFolder(), true)).toBe(false);
		write('node_modules/@swc/jest/package.json', '{}', 1);
		expect(areDependenciesCurrent(inFolder(), true)).toBe(true);
	});
});

describe('A program started under another Node', () => {
	test('finds that Node first, and the rest of the path once and in order', () => {
		const path = '/usr/bin:/opt/node/bin:/bin';
		const env = withNodeFirst({ PATH: path }, '/opt/node/bin/node', 'linux');

		expect(env).toEqual({ PATH: '/opt/node/bin:/usr/bin:/bin' });
	});
});

describe("n8n's environment", () => {
	const place = { userFolder: '/data', port: 5678, brokerPort: 5679, encryptionKey: 'key' };

	test('takes over nothing that is meant for another n8n, or for npm', () => {
		const env = n8nEnvironment(place, {
			N8N_PORT: '1',
			DB_TYPE: 'postgresdb',
			EXECUTIONS_MODE: 'queue',
			npm_config_prefix: '/usr',
			LANG: 'de_DE.UTF-8',
		});

		expect(env).toMatchObject({ N8N_PORT: '5678', LANG: 'de_DE.UTF-8' });
		expect(Object.keys(env)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(DB_|EXECUTIONS_|npm_)/)]));
	});

	test('lets it listen on this machine only, and connect to nothing outside it', () => {
		const env = n8nEnvironment(place, {});

		expect(env).toMatchObject({
			N8N_LISTEN_ADDRESS: '127.0.0.1',
			N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
			N8N_DIAGNOSTICS_ENABLED: 'false',
			N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
			N8N_TEMPLATES_ENABLED: 'false',
		});
	});

	test('reaches the sandbox without a proxy', () => {
		const env = n8nEnvironment(place, { NO_PROXY: 'intra.example' });

		expect(env['NO_PROXY']).toBe('intra.example,127.0.0.1,localhost');
	});
});

describe('A lock', () => {
	const inFolder = useFolder();
	const file = () => inFolder('new', 'lock');

	function acquireLock() {
		const lock = takeLock(file());
		if ('holder' in lock) throw new Error(`held by ${lock.holder}`);
		return lock;
	}

	test('of a process that lives but has not touched it for long is taken over', () => {
		acquireLock().release();
		writeFileSync(file(), String(process.ppid));
		const longAgo = new Date(Date.now() - 60_000);
		utimesSync(file(), longAgo, longAgo);

		acquireLock().release();
	});
});

describe('An npm command that failed', () => {
	const explain = (output: string) => explainNpm(['install', 'n8n'], output, '/cache/npm.log');

	test.each([
		['npm error code ENOTFOUND\nnpm error request to https://registry.invalid/n8n', /registry/],
		['npm error code ECONNREFUSED', /registry cannot be reached/],
		['npm error code ENOSPC\nnpm error nospc ENOSPC: no space left on device', /disk is full/],
		['npm error code E401\nnpm error Incorrect or missing password', /npm login/],
		['gyp ERR! find Python Python is not set', /compiler/],
		['npm error code EACCES', /refused access/],
	])('is explained: %j', (output, words) => {
		expect(explain(output)).toMatch(words);
	});

	test('of unknown kind is shown in npm’s words, without warnings', () => {
		const message = explain('npm warn old lockfile\nnpm error code EODD\nnpm error Odd thing');

		expect(message).toContain('npm error Odd thing');
		expect(message).not.toContain('old lockfile');
	});

	test('always names its log', () => {
		expect(explain('npm error code ENOSPC')).toContain('/cache/npm.log');
		expect(explain('')).toContain('/cache/npm.log');
	});
});

describe('The launcher', () => {
	test('separates its own options from those of the script', () => {
		const args = ['--without-tests', '--with-n8n', 'demo/start.ts', '--fresh'];

		expect(parseArguments(args)).toEqual({ file: 'demo/start.ts', args: ['--fresh'], tests: false, n8n: true });
	});

	test.each([[[]], [['--with-n8n']], [['--without-test', 'demo/start.ts']]])(
		'refuses %j, which names no script or an unknown option',
		(args) => expect(() => parseArguments(args)).toThrow('Usage:'),
	);
});

describe('A stop signal', () => {
	test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
		'%s is handed on to a program in the same terminal on macOS and Linux',
		(signal) => {
			expect(mustForward(signal, 'darwin')).toBe(true);
			expect(mustForward(signal, 'linux')).toBe(true);
		},
	);

	test('of the console is left to Windows, where handing it on would kill', () => {
		expect(mustForward('SIGINT', 'win32')).toBe(false);
		expect(mustForward('SIGHUP', 'win32')).toBe(false);
	});
});

test('found ports differ, and are not in the range that the system assigns', async () => {
	const ports = await Promise.all(Array.from({ length: 200 }, async () => await freePort()));
	expect(new Set(ports).size).toBe(200);
	expect(Math.max(...ports)).toBeLessThan(32_768);
});

test('a preferred port is used if it is free, and only then', async () => {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;
	expect(await freePort(port)).not.toBe(port);
	server.close();
	await once(server, 'close');
	expect(await freePort(port)).toBe(port);
});
