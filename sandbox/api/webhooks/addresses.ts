import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { Turns } from '../../core/foundation/turns.ts';

interface Address {
	address: string;
	family: 4 | 6;
}

/**
 * Resolves a host and refuses addresses that are not public, or belong to this machine and its networks, so
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
	if (parsed.range() !== 'unicast' || isNear(parsed)) return false;
	return parsed.kind() === 'ipv4' || parsed.match(globalUnicast);
}

/** Whether an address belongs to this machine or to one of its networks, which may have public addresses, too. */
function isNear(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
	const interfaces = Object.values(networkInterfaces()).flatMap((all = []) => all);
	const networks = interfaces.flatMap(({ cidr }) => (cidr === null ? [] : [ipaddr.parseCIDR(cidr)]));
	return networks.some((network) => network[0].kind() === address.kind() && address.match(network));
}

const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** Queries name servers without using a thread, so that slow servers delay nothing else. */
const nameServers = new Resolver({ timeout: 3000, tries: 2 });

/** The address, if the host is one and needs no lookup. */
function literalAddress(host: string): Address | undefined {
	const family = isIP(host) as 4 | 6 | 0;
	return family === 0 ? undefined : { address: host, family };
}

async function resolve(host: string): Promise<Address[]> {
	const name = withoutBrackets(host);
	const literal = literalAddress(name);
	if (literal) return [literal];
	// Name servers do not know localhost (RFC 6761, 6.3).
	if (/(^|\.)localhost\.?$/i.test(name)) return [{ address: '127.0.0.1', family: 4 }];
	const found = await Promise.all([
		nameServers.resolve4(name).then((all) => all.map((address): Address => ({ address, family: 4 })), noAddresses),
		nameServers.resolve6(name).then((all) => all.map((address): Address => ({ address, family: 6 })), noAddresses),
	]);
	if (found.flat().length > 0) return found.flat();
	throw new Error(`The host ${host} is unknown.`);
}

/** Limits the lookups of local names, which use threads that passwords and gzip also need. */
const localLookups = new Turns(2, 10_000);

/** Resolves a host with this machine's resolver, to any address. */
export async function anyAddress(host: string): Promise<Address[]> {
	// An address does not wait for lookups.
	const literal = literalAddress(withoutBrackets(host));
	if (literal) return [literal];
	const found = await localLookups.run(host, () => lookup(withoutBrackets(host), { all: true }).catch(noAddresses));
	if (found && found.length > 0) return found as Address[];
	throw new Error(`The host ${host} is unknown.`);
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');
const noAddresses = (): Address[] => [];
