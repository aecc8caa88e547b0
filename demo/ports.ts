import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/**
 * Finds a free TCP port on the loopback interface.
 *
 * @param preferred taken if it is free.
 * @throws the system's error when there is no free port at all.
 */
export async function freePort(preferred?: number): Promise<number> {
	const server = createServer();
	try {
		server.listen(preferred ?? 0, '127.0.0.1');
		await once(server, 'listening');
		return (server.address() as AddressInfo).port;
	} catch (error) {
		if (preferred === undefined) throw error;
		return await freePort();
	} finally {
		server.close();
	}
}
