import type { Context } from 'hono';
import ipaddr from 'ipaddr.js';
import type { Env } from '../../core/service.ts';

/**
 * Returns the client address by which unauthenticated requests are counted. For IPv6 it is the /64
 * network, because one client has a whole network (RFC 6177). Forwarding headers are not trusted.
 */
export function clientAddressOf(c: Context<Env>): string {
	const address = c.env?.incoming?.socket.remoteAddress;
	// The app was called in process, or the connection is closed.
	if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
	const parsed = ipaddr.process(address);
	return parsed.kind() === 'ipv4' ? parsed.toString() : (parsed as ipaddr.IPv6).parts.slice(0, 4).join(':');
}
