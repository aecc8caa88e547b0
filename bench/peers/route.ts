import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Duplex } from 'node:stream';

/** Where every connection of this process goes, whatever its host. */
export interface Route {
	/** On this machine. */
	port: number;
	tls: boolean;
}

type Connect = (options: net.NetConnectOpts & { servername?: string }, done: never) => Duplex;

/**
 * Redirects all connections of Node's agents to a server on this machine, so that nodes with fixed
 * addresses are measured unchanged and nothing leaves the machine. Without TLS, requests to https
 * addresses are sent in plain text.
 *
 * @returns a function that changes the route of new connections
 */
export function routeAll(): (route: Route) => void {
	let route: Route | undefined;
	const here = (): { host: string; port: number } => {
		if (!route) throw new Error('No route is set.');
		return { host: '127.0.0.1', port: route.port };
	};
	const secure = https.Agent.prototype as unknown as { createConnection: Connect };
	const plain = http.Agent.prototype as unknown as { createConnection: Connect };
	const connectSecurely = secure.createConnection;
	plain.createConnection = (options) => net.connect({ ...options, ...here() });
	secure.createConnection = function (options, done) {
		const target = { ...options, ...here() };
		return route!.tls ? connectSecurely.call(this, target, done) : net.connect(target);
	};
	return (next) => {
		route = next;
	};
}
