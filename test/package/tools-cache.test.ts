import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installOnce } from '../../tools/cache.mjs';
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
