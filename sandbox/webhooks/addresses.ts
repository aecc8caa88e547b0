import { lookup } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';

export interface Address {
	address: string;
	family: 4 | 6;
}

/**
 * Finds where a host is, and refuses hosts that are not out on the internet, so that nobody reaches
 * the inside of a network through a subscription. Connect to the address given, and to no other: a
 * name may lead somewhere else the next time it is asked for.
 *
 * @param host a name, or an address as in a URL
 * @throws Error in words, if the name is not known or any of its addresses is not public
 */
export async function publicAddress(host: string): Promise<Address> {
	const addresses = await resolve(host);
	const inside = addresses.find(({ address }) => !isPublic(address));
	if (!inside) return addresses[0]!;
	// Not at which one: that would tell outsiders what is inside.
	throw new Error(`${host} does not lead to a public address.`);
}

/**
 * IPv4 addresses in IPv6 ones (RFC 4291, 2.5.5.2) are what they stand for. Of IPv6, all that is in
 * public use begins with the bits 001 (IANA, IPv6 Global Unicast Address Assignments); elsewhere are
 * ways to write IPv4 addresses that only some systems understand, such as ::127.0.0.1.
 */
function isPublic(address: string): boolean {
	const parsed = ipaddr.process(address);
	if (parsed.range() !== 'unicast') return false;
	return parsed.kind() === 'ipv4' || parsed.match(globalUnicast);
}

const globalUnicast = ipaddr.parseCIDR('2000::/3');

async function resolve(host: string): Promise<Address[]> {
	try {
		return (await lookup(host.replace(/^\[|\]$/g, ''), { all: true })) as Address[];
	} catch {
		throw new Error(`The host ${host} is not known.`);
	}
}
