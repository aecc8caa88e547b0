import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { takeLock } from '../../tools/lock.mjs';
import { useFolder } from '../support/temporary-folder.ts';

describe('A lock', () => {
	const inFolder = useFolder();
	const file = () => inFolder('new', 'lock');

	function acquireLock() {
		const lock = takeLock(file());
		if ('holder' in lock) throw new Error(`held by ${lock.holder}`);
		return lock;
	}

	test('is taken once, and names its holder', () => {
		const lock = acquireLock();

		expect(takeLock(file())).toEqual({ holder: process.pid });
		lock.release();
	});

	test('can be taken again after its release', () => {
		acquireLock().release();

		expect(existsSync(file())).toBe(false);
		acquireLock().release();
	});

	test('of a process that lives but has not touched it for long is taken over', () => {
		acquireLock().release();
		writeFileSync(file(), String(process.ppid));
		const longAgo = new Date(Date.now() - 60_000);
		utimesSync(file(), longAgo, longAgo);

		acquireLock().release();
	});
});
