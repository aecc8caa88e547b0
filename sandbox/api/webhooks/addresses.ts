import { lookup } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';

interface Address {
	address: string;
	family: 4 | 6;
}

/**
 * Resolves a host and refuses addresses that are not public, so
 * that a subscription cannot reach an internal network. Connect to the returned address only: the name may
 * resolve differently the next time (DNS rebinding).
 *
 * @param host a name, or an address as in a URL
 * @throws Error for people, if the name is unknown or any of its addresses is not public
 */
export async function publicAddress(host: string): Promise<Address> {
	const addresses = await anyAddress(host);
	const internal = addresses.find(({ address }) => !isPublic(address));
	if (!internal) return addresses[0]!;
	// The address is not named, because that would reveal the internal network.
	throw new Error(`${host} does not resolve to a public address.`);
}

/**
 * IPv4-mapped IPv6 addresses (RFC 4291, 2.5.5.2) count as IPv4. Public IPv6 addresses begin with the
 * bits 001 (IANA, IPv6 Global Unicast Address Assignments); other ranges include forms of IPv4
 * addresses that only some systems understand, such as ::127.0.0.1.
 */
function isPublic(address: string): boolean {
	const parsed = ipaddr.process(address);
	if (parsed.range() !== 'unicast') return false;
	return parsed.kind() === 'ipv4' || parsed.match(globalUnicast);
}

const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Resolves a host with this machine's resolver, to any address.
 *
 * @throws Error for people, if the name is unknown
 */
export async function anyAddress(host: string): Promise<Address[]> {
	const found = await lookup(host.replace(/^\[|\]$/g, ''), { all: true }).catch(() => []);
	if (found.length > 0) return found as Address[];
	throw new Error(`The host ${host} is unknown.`);
}
