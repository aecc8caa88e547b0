import { randomInt } from 'node:crypto';
import getPort, { portNumbers } from 'get-port';

/**
 * The range is below the ephemeral ports, which systems give to outgoing connections and to servers without a
 * fixed port (32768 and up on Linux, 49152 elsewhere), so a port that is free now is still free when it is used.
 */
const firstPort = 20_000;
const lastPort = 31_999;

/**
 * Finds a free TCP port on the loopback interface; it never returns the same port twice.
 *
 * @param preferred the port to use if it is free
 */
export async function freePort(preferred?: number): Promise<number> {
	// The search starts at a random port, because other processes look for ports, too.
	const start = randomInt(firstPort, lastPort);
	const ports = [...portNumbers(start, lastPort), ...portNumbers(firstPort, start)];
	return await getPort({ host: '127.0.0.1', port: preferred === undefined ? ports : [preferred, ...ports], reserve: true });
}
