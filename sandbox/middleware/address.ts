import type { Context } from 'hono';
import ipaddr from 'ipaddr.js';
import type { Env } from '../service.ts';

/**
 * Where a request comes from, to tell strangers apart. Of IPv6 it is the network, since one stranger
 * has a whole one (RFC 6177). What headers say is not believed.
 */
export function addressOf(c: Context<Env>): string {
	const address = c.env?.incoming?.socket.remoteAddress;
	// Called in process, or gone already.
	if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
	const parsed = ipaddr.process(address);
	return parsed.kind() === 'ipv4'
		? parsed.toString()
		: (parsed as ipaddr.IPv6).parts.slice(0, 4).join(':');
}
