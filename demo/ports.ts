import { randomInt } from 'node:crypto';
import getPort, { portNumbers } from 'get-port';

/**
 * Below the ports that systems give to outgoing connections and to servers without a port of their own
 * (32768 and up on Linux, 49152 elsewhere): a port that is free now is free when it is used.
 */
const firstPort = 20_000;
const lastPort = 31_999;

/**
 * Finds a free TCP port on the loopback interface, and none twice.
 *
 * @param preferred taken if it is free
 */
export async function freePort(preferred?: number): Promise<number> {
	// From a random port on, as other processes look for ports, too.
	const start = randomInt(firstPort, lastPort);
	const ports = [...portNumbers(start, lastPort), ...portNumbers(firstPort, start)];
	return await getPort({ host: '127.0.0.1', port: preferred === undefined ? ports : [preferred, ...ports], reserve: true });
}
