import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

import { freePort } from '../../demo/ports.ts';

test('found ports differ, and are not in the range that the system assigns', async () => {
	const ports = await Promise.all(Array.from({ length: 200 }, async () => await freePort()));
	expect(new Set(ports).size).toBe(200);
	expect(Math.max(...ports)).toBeLessThan(32_768);
});

test('a preferred port is used if it is free, and only then', async () => {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;
	expect(await freePort(port)).not.toBe(port);
	server.close();
	await once(server, 'close');
	expect(await freePort(port)).toBe(port);
});
