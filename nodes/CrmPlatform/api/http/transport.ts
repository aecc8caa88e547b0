import {
	NodeApiError,
	type IAllExecuteFunctions,
	type ICredentialsDecrypted,
	type ICredentialTestFunctions,
	type IHttpRequestMethods,
	type IHttpRequestOptions,
} from 'n8n-workflow';

import { whySignedOut, type SignedOut } from './signedOut';

export interface HttpRequest {
	method: IHttpRequestMethods;
	url: string;
	headers: Record<string, string>;
	body?: string;
	/** Milliseconds until the service must have answered. */
	timeout: number;
}

export interface HttpResponse {
	status: number;
	/** Lower-case names. */
	headers: Record<string, string | undefined>;
	text: string;
}

/** No answer came: the connection could not be made, broke, or took too long. */
export interface NoResponse {
	/** Node.js or OpenSSL code, such as `ECONNREFUSED`. */
	connectionError: string;
}

/** Sends one request, whatever the answer's status is. Never throws. */
export type Transport = (request: HttpRequest) => Promise<HttpResponse | NoResponse | SignedOut>;

/** Requests signed with the user's API key. */
export function authenticated(
	n8n: IAllExecuteFunctions,
	credentialType: string,
	credential: ICredentialsDecrypted,
): Transport {
	return async (request) =>
		await settle(
			// The decrypted credential is handed over, since n8n would decrypt it anew for each request.
			n8n.helpers.httpRequestWithAuthentication.call(n8n, credentialType, options(request), {
				credentialsDecrypted: credential,
			}),
		);
}

/**
 * Requests signed with the user's access token. When one is answered 401, n8n renews the token, once
 * for all requests of all executions and workers that need it, and sends the request again.
 */
export function signedIn(n8n: IAllExecuteFunctions, credentialType: string): Transport {
	return async (request) =>
		await settle(
			n8n.helpers.httpRequestWithAuthentication.call(n8n, credentialType, {
				...options(request),
				ignoreHttpStatusErrors: { ignore: true, except: [401] },
			}),
			(errors) => {
				const signedOut = whySignedOut(errors);
				return signedOut === undefined ? undefined : { signedOut };
			},
		);
}

/** Requests without the credential: for addresses that must not see it. */
export function anonymous(n8n: IAllExecuteFunctions): Transport {
	return async (request) => await settle(n8n.helpers.httpRequest(options(request)));
}

/**
 * Requests of a credential's test. n8n gives a test function this one helper and no other
 * (`ICredentialTestFunctions`), the reason why it is used here and nowhere else.
 *
 * @param authorization value of the Authorization header; none for addresses that must not see it
 */
export function testing(
	{ request }: ICredentialTestFunctions['helpers'],
	authorization?: string,
): Transport {
	return async ({ url, headers, ...rest }) =>
		await settle(
			request({
				...rest,
				uri: url,
				headers: authorization === undefined ? headers : { ...headers, authorization },
				encoding: 'text',
				followRedirect: false,
				resolveWithFullResponse: true,
				simple: false,
			}),
		);
}

function options({ timeout, ...request }: HttpRequest): IHttpRequestOptions {
	return {
		...request,
		timeout,
		// As text, so that malformed JSON is seen as such and not taken for a string.
		encoding: 'text',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		// A followed redirect would carry the credential to another address.
		disableFollowRedirect: true,
	};
}

interface FullResponse {
	statusCode: number;
	headers: Record<string, string | undefined>;
	body: unknown;
}

async function settle(
	sent: Promise<unknown>,
	explain: (errors: Error[]) => SignedOut | undefined = () => undefined,
): Promise<HttpResponse | NoResponse | SignedOut> {
	try {
		const { statusCode, headers, body } = (await sent) as FullResponse;
		return { status: statusCode, headers, text: typeof body === 'string' ? body : '' };
	} catch (error) {
		const errors = withCauses(error);
		return explain(errors) ?? { connectionError: connectionCode(errors) };
	}
}

/** n8n wraps what axios threw, which wraps what Node.js threw. */
function withCauses(error: unknown): Error[] {
	if (!(error instanceof Error)) return [];
	return [error, ...(error.cause instanceof Error ? withCauses(error.cause) : lostCause(error))];
}

/**
 * What an error of n8n was caused by, as far as can be told. Up to n8n 2.30, a NodeApiError drops its
 * cause and keeps of it the message and, as `httpCode`, either the status of the answer or the code.
 */
function lostCause(error: Error): Error[] {
	if (!(error instanceof NodeApiError) || !error.httpCode) return [];
	const status = Number(error.httpCode);
	const known = status > 0 ? { response: { status } } : { code: error.httpCode };
	return [Object.assign(new Error(error.messages[0] ?? error.message), known)];
}

/** The innermost code says most. */
function connectionCode(errors: Error[]): string {
	let code = 'UNKNOWN';
	for (const error of errors) {
		if ('code' in error && typeof error.code === 'string' && error.code !== '') code = error.code;
	}
	return code;
}
