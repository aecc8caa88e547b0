import { createHash } from 'node:crypto';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { areDependenciesCurrent } from '../../tools/dependencies.mjs';
import { useFolder } from '../support/temporary-folder.ts';

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
