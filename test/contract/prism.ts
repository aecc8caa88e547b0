import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { hasEnded, startGroup, stopGroup } from '../../tools/child.mjs';
import { until } from '../support/until.ts';
import { forward } from './forward.ts';

const log = resolve('.tmp', 'conformance', 'prism.log');
const command = resolve('node_modules', '@stoplight', 'prism-cli', 'dist', 'index.js');
const graceMs = 2_000;

const closers: Array<() => unknown> = [];

/**
 * Starts Prism, which checks each request and each answer against contract/openapi.json. It takes seconds to
 * start, and forwards to one address only. So there is one for all tests; a header of each request names its
 * sandbox (`observed.ts`).
 */
export async function startPrism(): Promise<void> {
	const sandboxes = createServer((request, response) => {
		const { 'observed-url': url, 'observed-host': host } = request.headers;
		const headers = { host: String(host), 'observed-url': undefined, 'observed-host': undefined };
		forward(request, response, String(url), headers);
	});
	sandboxes.listen(0, '127.0.0.1');
	await once(sandboxes, 'listening');
	closers.push(() => sandboxes.close());
	const upstream = `http://127.0.0.1:${(sandboxes.address() as AddressInfo).port}`;

	mkdirSync(resolve(log, '..'), { recursive: true });
	const output = openSync(log, 'w');
	const args = [command, 'proxy', 'contract/openapi.json', upstream, '--port', '0'];
	const prism = startGroup(process.execPath, args, { stdio: ['ignore', output, output] });
	closers.push(() => stopGroup(prism, graceMs));
	process.env['PRISM_URL'] = await addressOf(() => hasEnded(prism));
}

export async function stopPrism(): Promise<void> {
	for (const close of closers.splice(0).reverse()) await close();
}

/** Prism prints its address when it is ready. */
const addressOf = async (hasFailed: () => boolean): Promise<string> =>
	await until(() => {
		if (hasFailed()) throw new Error(`Prism has not started, see ${log}.`);
		return /listening on (http:\/\/[\d.:]+)/.exec(readFileSync(log, 'utf8'))?.[1];
	});
