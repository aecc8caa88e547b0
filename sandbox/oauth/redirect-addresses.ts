const most = 10;
const longest = 2000;
const loopback = ['localhost', '127.0.0.1', '[::1]'];

/** A mistake in a list of redirect addresses, in words for the person who typed it. */
export class RedirectAddressError extends Error {}

/**
 * Reads redirect addresses, one on each line. They have to be safe from eavesdroppers: https, or
 * http on the user's own machine (RFC 9700, 2.1 and 2.6).
 *
 * @returns the addresses as they were typed, since they are compared letter by letter
 * @throws RedirectAddressError
 */
export function parseRedirectAddresses(text: string): string[] {
	const lines = text.split(/\r?\n/).map((line) => line.trim());
	const addresses = [...new Set(lines.filter(Boolean))];
	if (addresses.length === 0) throw new RedirectAddressError('Give at least one redirect address.');
	if (addresses.length > most) throw new RedirectAddressError(`Give at most ${most} addresses.`);
	for (const address of addresses) {
		const problem = problemOf(address);
		if (problem) throw new RedirectAddressError(`${address}: ${problem}`);
	}
	return addresses;
}

function problemOf(address: string): string | undefined {
	if (!URL.canParse(address) || /\s/.test(address) || address.length > longest) {
		return 'this is not a web address.';
	}
	const { protocol, hostname, username, password } = new URL(address);
	const isLocal = protocol === 'http:' && loopback.includes(hostname);
	if (protocol !== 'https:' && !isLocal) {
		return 'it has to begin with https://, or with http:// on your own machine.';
	}
	if (address.includes('#')) return 'it must not have a part after #.';
	return username || password ? 'it must not have a user name or password.' : undefined;
}
