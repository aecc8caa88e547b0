import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
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
	const addresses = await resolve(host);
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

/** Queries name servers without using a thread, so that slow servers delay nothing else. */
const nameServers = new Resolver({ timeout: 3000, tries: 2 });

async function resolve(host: string): Promise<Address[]> {
	const name = withoutBrackets(host);
	const family = isIP(name) as 4 | 6 | 0;
	if (family !== 0) return [{ address: name, family }];
	// Name servers do not know localhost (RFC 6761, 6.3).
	if (/(^|\.)localhost\.?$/i.test(name)) return [{ address: '127.0.0.1', family: 4 }];
	const found = await Promise.all([
		nameServers.resolve4(name).then((all) => all.map((address): Address => ({ address, family: 4 })), noAddresses),
		nameServers.resolve6(name).then((all) => all.map((address): Address => ({ address, family: 6 })), noAddresses),
	]);
	if (found.flat().length > 0) return found.flat();
	throw new Error(`The host ${host} is unknown.`);
}

/** Resolves a host with this machine's resolver, to any address. */
export async function anyAddress(host: string): Promise<Address[]> {
	const found = await lookup(withoutBrackets(host), { all: true }).catch(noAddresses);
	if (found.length > 0) return found as Address[];
	throw new Error(`The host ${host} is unknown.`);
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');
const noAddresses = (): Address[] => [];
