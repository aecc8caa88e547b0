import { z } from 'zod';

import type { Problem } from './problem';

/** The request was not carried out, since the OAuth2 credential no longer opens the service. */
export interface SignedOut {
	/** The error code of RFC 6749, section 5.2, or of RFC 6750, section 3.1; else n8n's words. */
	signedOut: string;
}

/** What n8n throws and what that was caused by: errors of its own, of its OAuth2 client, of axios. */
const thrownError = z.object({
	message: z.string(),
	/** Of a connection that failed, or of a kind of error. */
	code: z.string().optional().catch(undefined),
	/** From the token endpoint. */
	body: z.object({ error: z.string() }).optional().catch(undefined),
	/** From the service. */
	response: z.object({ status: z.number() }).optional().catch(undefined),
	failure: z.object({ cause: z.string() }).optional().catch(undefined),
});

/** Of RFC 6749: these pass by themselves, so they are no reason to sign in again. */
const passing = ['server_error', 'temporarily_unavailable'];

/**
 * Codes that are not those of a connection. n8n's own complaints have no code; its OAuth2 client says
 * `ESTATUS` of an answer it cannot use and, up to n8n 2.30, `EAUTH` of a refusal and `ERR_ASSERTION`
 * of a refresh token that is not there.
 */
const complaints = ['ESTATUS', 'EAUTH', 'ERR_ASSERTION'];

/**
 * Why a request could not be signed.
 *
 * @param errors what n8n threw, followed by what caused it
 * @returns undefined where it is a matter of the connection, and trying again may help
 */
export function whySignedOut(errors: readonly Error[]): string | undefined {
	const thrown = errors.map((error) => thrownError.parse(error));
	const refused = thrown.find(({ body }) => body)?.body?.error;
	if (refused !== undefined) return passing.includes(refused) ? undefined : refused;
	// All that n8n keeps of a refused refresh token.
	if (thrown.some(({ failure }) => failure?.cause === 'credential-invalid')) return 'invalid_grant';
	// Even with a new access token.
	if (thrown.some(({ response }) => response?.status === 401)) return 'invalid_token';
	// Of the token endpoint: the service's own answers are not thrown, 401 excepted.
	if (thrown.some(({ response }) => response && response.status >= 500)) return undefined;
	const code = thrown.find((error) => error.code)?.code;
	return code === undefined || complaints.includes(code) ? thrown.at(-1)?.message : undefined;
}

/** What the user reads. */
export function signedOutProblem({ signedOut }: SignedOut): Problem {
	return { ...words(signedOut), status: 401, details: { status: 401, reason: signedOut } };
}

function words(why: string): Pick<Problem, 'message' | 'description'> {
	switch (why) {
		case 'invalid_grant':
		case 'invalid_token':
			return {
				message: 'The service no longer accepts the sign-in of the credential',
				description:
					'Open the credential and connect it again. The access was revoked, or not used for too long.',
			};
		case 'invalid_client':
		case 'unauthorized_client':
			return {
				message: 'The service does not accept the client of the credential',
				description: 'Check the client ID and secret in the credential, then connect it again.',
			};
		default:
			return {
				message: `The credential could not sign in: ${why}`,
				description: 'Check the client and the addresses in the credential, then connect it again.',
			};
	}
}
