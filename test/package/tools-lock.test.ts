import { utimesSync, writeFileSync } from 'node:fs';
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

	test('of a process that lives but has not touched it for long is taken over', () => {
		acquireLock().release();
		writeFileSync(file(), String(process.ppid));
		const longAgo = new Date(Date.now() - 60_000);
		utimesSync(file(), longAgo, longAgo);

		acquireLock().release();
	});
});
