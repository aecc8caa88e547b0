import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takeLock } from '../../tools/lock.mjs';

describe('A lock', () => {
	let folder: string;
	let file: string;

	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), 'lock-'));
		file = join(folder, 'new', 'lock');
	});

	afterEach(() => rmSync(folder, { recursive: true, force: true }));

	function taken() {
		const lock = takeLock(file);
		if ('holder' in lock) throw new Error(`held by ${lock.holder}`);
		return lock;
	}

	test('is taken once, and names its holder', () => {
		const lock = taken();

		expect(takeLock(file)).toEqual({ holder: process.pid });
		lock.release();
	});

	test('can be taken again after its release', () => {
		taken().release();

		expect(existsSync(file)).toBe(false);
		taken().release();
	});

	test('of a process that lives but has not touched it for long is taken over', () => {
		taken().release();
		writeFileSync(file, String(process.ppid));
		const longAgo = new Date(Date.now() - 60_000);
		utimesSync(file, longAgo, longAgo);

		taken().release();
	});
});
