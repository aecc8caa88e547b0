import axios, { type AxiosResponse } from 'axios';
import type { Readable } from 'node:stream';
import { publicAddress } from './addresses.ts';

/** How long a receiver may take. */
const timeoutMs = 15_000;

/** What a receiver has answered, or why it has not. */
export interface Outcome {
	/** Null if there was no answer. */
	status: number | null;
	/** Null if the delivery has succeeded. */
	error: string | null;
	/** The header Retry-After, as it came. */
	retryAfter: string | null;
}

/**
 * Posts to an address once. Only a 2xx is a success; redirects are not followed (Standard Webhooks
 * 1.0.0). The answer's body is not read.
 *
 * @param isPrivateAllowed whether the address may be on this machine or in its network
 * @param canceled ends the attempt early
 */
export async function post(
	url: string,
	body: string,
	headers: Record<string, string>,
	isPrivateAllowed: boolean,
	canceled: AbortSignal,
): Promise<Outcome> {
	try {
		const vetted = isPrivateAllowed ? undefined : await publicAddress(new URL(url).hostname);
		const response: AxiosResponse<Readable> = await axios.post(url, Buffer.from(body), {
			headers: { 'Content-Type': 'application/json', 'User-Agent': 'CRM-Platform', ...headers },
			// Covers the time to connect too, which `timeout` alone does not.
			signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), canceled]),
			maxRedirects: 0,
			proxy: false,
			responseType: 'stream',
			validateStatus: () => true,
			...(vetted && { lookup: async () => [vetted.address, vetted.family] as [string, 4 | 6] }),
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
		? `The receiver redirects (${status}), which is not followed. Subscribe with the new address.`
		: `The receiver answered ${status}.`;

/** Messages of the network say which addresses a name led to, so only their codes are told. */
function explain(error: Error & { code?: string }): string {
	if (axios.isCancel(error)) return `The receiver took longer than ${timeoutMs / 1000} s.`;
	if (!axios.isAxiosError(error)) return error.message;
	const reason = failures[error.code ?? ''] ?? 'the connection failed';
	return `It cannot be reached: ${reason}${error.code ? ` (${error.code})` : ''}.`;
}

const failures: Record<string, string> = {
	ECONNREFUSED: 'nothing answers there',
	ECONNRESET: 'the connection was broken off',
	EPIPE: 'the connection was broken off',
	ETIMEDOUT: 'nothing answers there in time',
	EHOSTUNREACH: 'there is no way there',
	ENETUNREACH: 'there is no way there',
	ENOTFOUND: 'the host is not known',
	EPROTO: 'it does not speak TLS as it should',
	CERT_HAS_EXPIRED: 'its certificate has expired',
	DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
	SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed',
	UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
	ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};
