import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { areDependenciesCurrent } from '../../tools/dependencies.mjs';

const LOCK = '{ "lockfileVersion": 3 }';

describe("The project's packages", () => {
	let root: string;

	beforeEach(() => {
		root = mkdtempSync(join(tmpdir(), 'clone-'));
		write('package-lock.json', LOCK, 0);
	});

	afterEach(() => rmSync(root, { recursive: true, force: true }));

	/** Writes a file as it would have been that many minutes after the lock file. */
	function write(name: string, text: string, minutes: number): void {
		const file = join(root, name);
		mkdirSync(join(file, '..'), { recursive: true });
		writeFileSync(file, text);
		const time = new Date(Date.UTC(2026, 10, 21, 12, minutes));
		utimesSync(file, time, time);
	}

	const stamp = createHash('sha256').update(LOCK).digest('hex');

	test('are missing in a new clone', () => {
		expect(areDependenciesCurrent(root, false)).toBe(false);
	});

	test('are missing if an installation was interrupted before npm wrote its record', () => {
		write('node_modules/.package-lock.sha256', stamp, 1);

		expect(areDependenciesCurrent(root, false)).toBe(false);
	});

	test('are current when npm finished after the lock file was written', () => {
		write('node_modules/.package-lock.json', '{}', 1);

		expect(areDependenciesCurrent(root, false)).toBe(true);
	});

	test('are incomplete for the tests after an installation for a start', () => {
		const manifest = { devDependencies: { jest: '1.0.0', '@swc/jest': '1.0.0' } };
		write('test/package.json', JSON.stringify(manifest), 0);
		write('node_modules/jest/package.json', '{}', 1);
		write('node_modules/.package-lock.json', '{}', 1);

		expect(areDependenciesCurrent(root, false)).toBe(true);
		expect(areDependenciesCurrent(root, true)).toBe(false);
		write('node_modules/@swc/jest/package.json', '{}', 1);
		expect(areDependenciesCurrent(root, true)).toBe(true);
	});

	test('are outdated when the lock file is newer', () => {
		write('node_modules/.package-lock.json', '{}', -1);

		expect(areDependenciesCurrent(root, false)).toBe(false);
	});

	test('are current when the lock file is newer but has the same content', () => {
		write('node_modules/.package-lock.json', '{}', -1);
		write('node_modules/.package-lock.sha256', stamp, -1);

		expect(areDependenciesCurrent(root, false)).toBe(true);
	});
});
