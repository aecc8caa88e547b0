import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Soaked } from './soak-process.ts';

/** `SOAK_REQUESTS=5000 npx jest test/long/soak` takes an hour. */
const many = Number(process.env['SOAK_REQUESTS'] ?? 40);
const few = Math.max(4, many / 10);

/** The bytes that a garbage collection may leave behind, per request. */
const maxBytes = many < 500 ? 1000 : 200 + 200_000 / (many - few);

test(
	`after ${many} requests of each route the heap is what it was after ${few}`,
	async () => {
		const script = resolve('test', 'large', 'soak-process.ts');
		const args = ['--expose-gc', script, `${few}`, `${many}`];
		const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 });
		const routes = stdout.trim().split('\n').map((line) => JSON.parse(line) as Soaked);
		expect(routes.length).toBeGreaterThan(200);
		expect(routes.filter(({ bytes }) => bytes > maxBytes)).toEqual([]);
		// Each schema with metadata stays in zod's registry until the process ends.
		expect(routes.filter(({ schemas }) => schemas > 0)).toEqual([]);
		expect(routes.filter(({ statuses }) => statuses.some((status) => status >= 500))).toEqual([]);
		const answered = routes.filter(({ statuses }) => statuses.some((status) => status < 400));
		expect(answered.length).toBeGreaterThan(routes.length * 0.6);
	},
	Math.max(900_000, many * 3000),
);
