const maxAddresses = 10;
const maxAddressLength = 2000;
const loopback = ['localhost', '127.0.0.1', '[::1]'];

/** A mistake in a list of redirect addresses; the message is for the person who typed it. */
export class RedirectAddressError extends Error {}

/**
 * Parses redirect addresses, one per line. They must be safe from eavesdroppers: https, or http on the
 * user's own machine (RFC 9700, 2.1 and 2.6).
 *
 * @returns the addresses unchanged, because they are compared as strings
 * @throws RedirectAddressError
 */
export function parseRedirectAddresses(text: string): string[] {
	const lines = text.split(/\r?\n/).map((line) => line.trim());
	const addresses = [...new Set(lines.filter(Boolean))];
	if (addresses.length === 0) throw new RedirectAddressError('Enter at least one redirect address.');
	if (addresses.length > maxAddresses) throw new RedirectAddressError(`Enter at most ${maxAddresses} addresses.`);
	for (const address of addresses) {
		const problem = explainAddress(address);
		if (problem) throw new RedirectAddressError(`${address}: ${problem}`);
	}
	return addresses;
}

/** Whether a host is a DNS name, an IPv4 or an IPv6 address. */
const isPlainHost = (hostname: string): boolean => /^([\w.-]+|\[[\da-f:.]+\])$/i.test(hostname);

function explainAddress(address: string): string | undefined {
	if (!URL.canParse(address) || /\s/.test(address) || address.length > maxAddressLength) {
		return 'this is not a web address.';
	}
	const { protocol, hostname, username, password } = new URL(address);
	const isLocal = protocol === 'http:' && loopback.includes(hostname);
	if (protocol !== 'https:' && !isLocal) {
		return 'it must begin with https://, or with http:// on your own machine.';
	}
	// URLs allow more characters in a host than DNS, and `;` or `*` has a meaning in a Content Security Policy.
	if (!isPlainHost(hostname)) return 'its host is not a name or an IP address.';
	if (address.includes('#')) return 'it must not have a part after #.';
	return username || password ? 'it must not have a user name or password.' : undefined;
}
