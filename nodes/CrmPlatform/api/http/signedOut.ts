import { z } from 'zod';

import type { Problem } from './problem';
import { withShownUrls } from './secrets';
import { unauthorized } from './statuses';

/** The request was not carried out because the OAuth2 credential no longer grants access. */
export interface SignedOut {
	/** The error code of RFC 6749, section 5.2, or of RFC 6750, section 3.1; otherwise, n8n's words. */
	signedOut: string;
}

/** An error that n8n throws, or its cause: n8n's own, its OAuth2 client's or axios's (n8n-core 2.41). */
const thrownError = z.object({
	message: z.string(),
	/** Code of a connection failure or an error. */
	code: z.string().optional().catch(undefined),
	/** Response of the token endpoint. */
	body: z.object({ error: z.string() }).optional().catch(undefined),
	/** Response of the service. */
	response: z.object({ status: z.number() }).optional().catch(undefined),
	failure: z.object({ cause: z.string() }).optional().catch(undefined),
});

/** Transient errors of RFC 6749, section 4.1.2.1: no reason to sign in again. */
const transient = ['server_error', 'temporarily_unavailable'];

/**
 * Codes that do not mean a connection failure. n8n's own errors have no code; its OAuth2 client uses `ESTATUS` for an
 * unusable response and, up to n8n 2.30, `EAUTH` for a refusal and `ERR_ASSERTION` for a missing refresh token.
 */
const signInCodes = ['ESTATUS', 'EAUTH', 'ERR_ASSERTION'];

/**
 * The reason why a request could not be signed.
 *
 * @param errors the error that n8n threw, followed by its causes
 * @returns undefined if the connection failed and a retry may help
 */
export function whySignedOut(errors: readonly Error[]): string | undefined {
	const thrown = errors.map((error) => thrownError.parse(error));
	const refused = thrown.find(({ body }) => body)?.body?.error;
	if (refused !== undefined) return transient.includes(refused) ? undefined : refused;
	// All that n8n reports about a refused refresh token.
	if (thrown.some(({ failure }) => failure?.cause === 'credential-invalid')) return 'invalid_grant';
	// The new access token was refused as well.
	if (thrown.some(({ response }) => response?.status === unauthorized)) return 'invalid_token';
	// From the token endpoint: of the service's responses, n8n throws only 401.
	if (thrown.some(({ response }) => response && response.status >= 500)) return undefined;
	const code = thrown.find((error) => error.code)?.code;
	const { message } = thrown.at(-1) ?? {};
	// From n8n's OAuth2 client, which names the address of its request.
	return code === undefined || signInCodes.includes(code) ? message && withShownUrls(message) : undefined;
}

const disconnected = [
	'The credential is no longer connected',
	'Open the credential and reconnect it. Access was revoked, or expired because it was not used.',
] as const;
const rejectedClient = [
	'The CRM rejected the OAuth2 client of the credential',
	'Check the client ID and secret in the credential, then reconnect it.',
] as const;
const wordsByReason = new Map<string, readonly [string, string]>([
	['invalid_grant', disconnected],
	['invalid_token', disconnected],
	['invalid_client', rejectedClient],
	['unauthorized_client', rejectedClient],
]);

export function signedOutProblem({ signedOut: reason }: SignedOut): Problem {
	const [message, description] = wordsByReason.get(reason) ?? [
		`The credential could not sign in: ${reason}`, 'Check the client ID, the secret and the URLs in the credential, then reconnect it.',
	];
	return { message, description, status: unauthorized, details: { status: unauthorized, reason } };
}
