import { once } from 'node:events';
import { createServer } from 'node:net';

import { freePort } from '../../demo/ports.ts';

test('ports that are found differ, and are none that a system gives to others', async () => {
	const ports = await Promise.all(Array.from({ length: 200 }, async () => await freePort()));
	expect(new Set(ports).size).toBe(200);
	expect(Math.max(...ports)).toBeLessThan(32_768);
});

test('a preferred port is taken while it is free', async () => {
	const port = await freePort();
	const server = createServer().listen(port, '127.0.0.1');
	await once(server, 'listening');
	expect(await freePort(port)).not.toBe(port);
	server.close();
	await once(server, 'close');
	expect(await freePort(port)).toBe(port);
});
