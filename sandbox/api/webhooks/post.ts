import axios, { type AxiosResponse } from 'axios';
import type { Readable } from 'node:stream';
import { anyAddress, publicAddress } from './addresses.ts';

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
