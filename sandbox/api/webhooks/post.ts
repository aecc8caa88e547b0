import axios, { type AxiosResponse } from 'axios';
import type { Readable } from 'node:stream';
import { lookup } from 'node:dns/promises';

/** The time limit of an attempt. */
const timeoutMs = 15_000;

/** The outcome of an attempt. */
export interface Outcome {
	/** Null if there was no response. */
	status: number | null;
	/** Null if the delivery succeeded. */
	error: string | null;
	/** The header Retry-After, unparsed. */
	retryAfter: string | null;
}

/**
 * Posts a delivery once. Only a 2xx is a success; redirects are not followed (Standard Webhooks 1.0.0).
 * The response body is not read.
 *
 * @param isPrivateAllowed whether the address may be on this machine or in its network
 * @param canceled aborts the attempt
 */
export async function post(
	url: string,
	body: string,
	headers: Record<string, string>,
	isPrivateAllowed: boolean,
	canceled: AbortSignal,
): Promise<Outcome> {
	try {
		const { hostname } = new URL(url);
		const addresses = isPrivateAllowed ? await anyAddress(hostname) : [await publicAddress(hostname)];
		const response: AxiosResponse<Readable> = await axios.post(url, Buffer.from(body), {
			headers: { 'Content-Type': 'application/json', 'User-Agent': 'CRM-Platform', ...headers },
			// Includes the time to connect, which `timeout` does not.
			signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), canceled]),
			maxRedirects: 0,
			proxy: false,
			responseType: 'stream',
			validateStatus: () => true,
			lookup: async () => [addresses] as [typeof addresses],
		});
		response.data.destroy();
		const { status } = response;
		const isSuccess = status >= 200 && status < 300;
		return {
			status,
			error: isSuccess ? null : explainStatus(status),
			retryAfter: String(response.headers['retry-after'] ?? '') || null,
		};
	} catch (error) {
		return { status: null, error: explain(error as Error), retryAfter: null };
	}
}

const explainStatus = (status: number): string =>
	status >= 300 && status < 400
		? `The receiver redirects (${status}), and redirects are not followed. Subscribe with the new address.`
		: `The receiver responded with ${status}.`;

/** Network errors contain resolved addresses, so only their codes are shown. */
function explain(error: Error & { code?: string }): string {
	if (axios.isCancel(error)) return `The receiver took longer than ${timeoutMs / 1000} s.`;
	if (!axios.isAxiosError(error)) return error.message;
	return `The receiver cannot be reached${error.code ? ` (${error.code})` : ''}.`;
}

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
async function anyAddress(host: string): Promise<Address[]> {
	const found = await lookup(host.replace(/^\[|\]$/g, ''), { all: true }).catch(() => []);
	if (found.length > 0) return found as Address[];
	throw new Error(`The host ${host} is unknown.`);
}
