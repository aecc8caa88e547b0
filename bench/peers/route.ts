import https from 'node:https';
import type net from 'node:net';
import type { Duplex } from 'node:stream';

type Connect = (options: net.NetConnectOpts & { servername?: string }, done: never) => Duplex;

/**
 * Redirects all connections of Node's agents to a server on this machine, so that nodes with fixed
 * addresses are measured unchanged and nothing leaves the machine.
 *
 * @returns a function that changes the port of new connections
 */
export function routeAll(): (port: number) => void {
	let port: number | undefined;
	const secure = https.Agent.prototype as unknown as { createConnection: Connect };
	const connectSecurely = secure.createConnection;
	secure.createConnection = function (options, done) {
		if (port === undefined) throw new Error('No route is set.');
		return connectSecurely.call(this, { ...options, host: '127.0.0.1', port }, done);
	};
	return (next) => {
		port = next;
	};
}
