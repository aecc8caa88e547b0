import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections and to servers without a port of their own
 * (32768 and up on Linux, 49152 elsewhere): a port that is free now is free when it is used.
 */
const FIRST = 20_000;
const LAST = 31_999;

/** Ports that are tried. */
const TRIES = 50;

/** Counts up, so that no port is found twice; from anywhere, as other processes look for ports, too. */
let next = randomInt(FIRST, LAST);

/**
 * Finds a free TCP port on the loopback interface. It stays free while nobody asks for just that port.
 *
 * @param preferred taken if it is free
 * @throws Error in the user's words when there is none
 */
export async function freePort(preferred?: number): Promise<number> {
	if (preferred !== undefined && (await isFree(preferred))) return preferred;
	for (let tries = 0; tries < TRIES; tries++) {
		const port = next;
		next = port === LAST ? FIRST : port + 1;
		if (await isFree(port)) return port;
	}
	throw new Error(`No TCP port is free: ${TRIES} between ${FIRST} and ${LAST} were tried on 127.0.0.1.`);
}

async function isFree(port: number): Promise<boolean> {
	const server = createServer();
	try {
		server.listen(port, '127.0.0.1');
		await once(server, 'listening');
		return true;
	} catch {
		return false;
	} finally {
		server.close();
	}
}
