import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, installOnce } from '../../tools/cache.mjs';
import { useFolder } from '../support/temporary-folder.ts';

describe('The cache', () => {
	test.each([
		['linux', {}, '/home/ada/.cache'],
		['linux', { XDG_CACHE_HOME: '/var/cache/ada' }, '/var/cache/ada'],
		['darwin', {}, '/home/ada/Library/Caches'],
	] as const)('is on %s with %j in %s', (platform, env, folder) => {
		expect(cacheFolder(platform, env, '/home/ada')).toBe(`${folder}/n8n-nodes-crm-platform`);
	});

	test.each([
		[{ LOCALAPPDATA: 'D:\\Ada\\Local' }, 'D:\\Ada\\Local\\n8n-nodes-crm-platform'],
		[{}, 'C:\\Ada\\AppData\\Local\\n8n-nodes-crm-platform'],
	])('is on Windows with %j in %s', (env, folder) => {
		expect(cacheFolder('win32', env, 'C:\\Ada')).toBe(folder);
	});
});

describe('An installation', () => {
	const inFolder = useFolder();
	const place = () => inFolder('program');

	const write = (name: string) => async (folder: string) => {
		writeFileSync(join(folder, name), '');
	};

	test('is complete, and contains nothing else', async () => {
		await installOnce(place(), write('file'));

		expect(readdirSync(place())).toEqual(['file']);
		expect(readdirSync(inFolder())).toEqual(['program']);
	});

	test('is not made again', async () => {
		await installOnce(place(), write('first'));
		await installOnce(place(), write('second'));

		expect(readdirSync(place())).toEqual(['first']);
	});

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

	test('continues if a process that no longer runs has left its lock', async () => {
		const gone = 2 ** 22 + 1;
		mkdirSync(`${place()}.installing-${gone}`);
		writeFileSync(`${place()}.lock`, String(gone));

		await installOnce(place(), write('file'));

		expect(readdirSync(inFolder())).toEqual(['program']);
	});
});
