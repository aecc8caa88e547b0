import {
	NodeApiError,
	sleep,
	type IAllExecuteFunctions,
	type ICredentialsDecrypted,
	type ICredentialTestFunctions,
	type IHttpRequestMethods,
	type IHttpRequestOptions,
} from 'n8n-workflow';
import { z } from 'zod';

import { timerCanceled } from '../../base/clock';
import { abortedBy } from '../../base/contexts';
import { withoutMembers } from '../../base/ownMembers';
import { resultOrError } from '../../base/results';
import { withShownUrls } from './secrets';
import { unauthorized } from './statuses';

export interface HttpRequest {
	method: IHttpRequestMethods;
	url: string;
	headers: Record<string, string>;
	body?: string;
	/** Milliseconds that the connection may be silent. */
	timeout: number;
	/** Milliseconds until the response must be complete, even if data keeps arriving. */
	totalTimeout: number;
}

export interface HttpResponse {
	status: number;
	/** Lower-case names. */
	headers: Record<string, string | undefined>;
	text: string;
	/** Whether the text is not in UTF-8, or names another encoding. */
	isGarbled?: true;
}

/** JSON is in UTF-8 (RFC 8259, section 8.1). In another encoding, characters would become U+FFFD, and be written back like that. */
function decodedText(bytes: Uint8Array, contentType = ''): Pick<HttpResponse, 'text' | 'isGarbled'> {
	const [, named = 'utf-8'] = /;\s*charset\s*=\s*"?([\w.:+-]+)/i.exec(contentType) ?? [];
	const text = resultOrError(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes));
	if (typeof text === 'string' && /^(utf-?8|us-ascii)$/i.test(named)) return { text };
	return { text: new TextDecoder().decode(bytes), isGarbled: true };
}

/** The connection failed, broke, or took too long. */
export interface NoResponse {
	/** Node.js or OpenSSL code, such as `ECONNREFUSED`. */
	connectionError: string;
	/** Whether the response was incomplete when the total timeout elapsed. */
	isOverdue?: boolean;
}

/** The request was not carried out because the OAuth2 credential no longer grants access. */
interface SignedOut {
	/** The error code of RFC 6749, section 5.2, or of RFC 6750, section 3.1; otherwise, n8n's words. */
	signedOut: string;
}

/** Sends one request and resolves for every result, whatever the status; it never rejects. */
export type Transport = (request: HttpRequest) => Promise<TransportResult>;

export type TransportResult = HttpResponse | NoResponse | SignedOut;

export const apiKeyTransport = (n8n: IAllExecuteFunctions, credentialType: string, credential: ICredentialsDecrypted): Transport =>
	n8nTransport(n8n, (options, context) =>
		// Passing the decrypted credential saves n8n decrypting it for each request.
		n8n.helpers.httpRequestWithAuthentication.call(context, credentialType, options, { credentialsDecrypted: credential }));

/** After a 401, n8n renews the access token once for all executions and workers, and sends the request again. */
export function oauth2Transport(n8n: IAllExecuteFunctions, credentialType: string): Transport {
	const ignoreHttpStatusErrors = { ignore: true as const, except: [401] };
	const send = (options: IHttpRequestOptions, context: IAllExecuteFunctions) =>
		n8n.helpers.httpRequestWithAuthentication.call(context, credentialType, { ...options, ignoreHttpStatusErrors });
	return n8nTransport(n8n, send, whySignedOut);
}

/** Requests without the credential, for addresses that must not receive it. */
export const anonymousTransport = (n8n: IAllExecuteFunctions): Transport =>
	n8nTransport(n8n, (options) => n8n.helpers.httpRequest(options));

function n8nTransport(
	n8n: IAllExecuteFunctions,
	send: (options: IHttpRequestOptions, context: IAllExecuteFunctions) => Promise<unknown>,
	whyNotSigned?: typeof whySignedOut,
): Transport {
	return async (request) =>
		await settle(
			request, cancelSignalOf(n8n), (signal) => send(requestOptions(request, signal), abortedBy(n8n, signal)), whyNotSigned,
		);
}

/** n8n gives the test of a credential no other helper. @param authorization the header; absent for addresses that must not receive it */
export function credentialTestTransport({ request: send }: ICredentialTestFunctions['helpers'], authorization?: string): Transport {
	return async (request) => {
		const { url, headers, ...rest } = withoutMembers(request, 'totalTimeout');
		return await settle(request, undefined, () =>
			send({
				...rest,
				uri: url,
				headers: authorization === undefined ? headers : { ...headers, authorization },
				encoding: 'text',
				followRedirect: false,
				resolveWithFullResponse: true,
				simple: false,
			}),
		);
	};
}

function requestOptions(request: HttpRequest, abortSignal: AbortSignal): IHttpRequestOptions {
	const { body } = request;
	return {
		...withoutMembers(request, 'totalTimeout', 'body'),
		// As bytes, since n8n's HTTP client (axios) would parse JSON text before sending it.
		...(body !== undefined && { body: Buffer.from(body) }),
		abortSignal,
		// As bytes, so that malformed JSON and text that is not UTF-8 are noticed.
		encoding: 'arraybuffer',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		// A followed redirect would carry the credential to another address.
		disableFollowRedirect: true,
	};
}

export function cancelSignalOf(n8n: IAllExecuteFunctions): AbortSignal | undefined {
	return 'getExecutionCancelSignal' in n8n ? n8n.getExecutionCancelSignal() : undefined;
}

type FullResponse = Pick<HttpResponse, 'headers'> & { statusCode: number; body: unknown };

/** Aborts the request when the total timeout elapses or the execution is canceled. */
async function settle(
	{ totalTimeout }: HttpRequest,
	cancel: AbortSignal | undefined,
	send: (signal: AbortSignal) => Promise<unknown>,
	whyNotSigned: typeof whySignedOut = () => undefined,
): Promise<TransportResult> {
	const request = new AbortController();
	const timer = new AbortController();
	const abort = () => request.abort();
	cancel?.addEventListener('abort', abort, { once: true });
	let isOverdue = false;
	const overdue = sleep(totalTimeout, timer.signal).then(() => {
		isOverdue = true;
		abort();
		throw new Error('The response is overdue');
	});
	try {
		// The helper may ignore the signal.
		const { statusCode, headers, body } = (await Promise.race([send(request.signal), overdue])) as FullResponse;
		if (body instanceof Uint8Array) return { status: statusCode, headers, ...decodedText(body, headers['content-type']) };
		return { status: statusCode, headers, text: typeof body === 'string' ? body : '' };
	} catch (error) {
		if (isOverdue) return { connectionError: 'ETIMEDOUT', isOverdue };
		const errors = withCauses(error);
		const signedOut = whyNotSigned(errors);
		return signedOut === undefined ? { connectionError: connectionCode(errors) } : { signedOut };
	} finally {
		cancel?.removeEventListener('abort', abort);
		overdue.catch(() => undefined);
		timer.abort(timerCanceled);
	}
}

/** n8n wraps the error of axios, which wraps the error of Node.js. */
function withCauses(error: unknown): Error[] {
	if (!(error instanceof Error)) return [];
	return [error, ...(error.cause instanceof Error ? withCauses(error.cause) : lostCause(error))];
}

/** Up to n8n 2.30, a NodeApiError drops its cause, but keeps the message and, as `httpCode`, the status of the response or the code. */
function lostCause(error: Error): Error[] {
	if (!(error instanceof NodeApiError) || !error.httpCode) return [];
	const status = Number(error.httpCode);
	const details = status > 0 ? { response: { status } } : { code: error.httpCode };
	return [Object.assign(new Error(error.messages[0] ?? error.message), details)];
}

/** The innermost code is the most specific. */
function connectionCode(errors: Error[]): string {
	const codes = errors.map((error) => ('code' in error ? error.code : undefined));
	return codes.findLast((code): code is string => typeof code === 'string' && code !== '') ?? 'UNKNOWN';
}

/** An error that n8n throws, or its cause: n8n's own, its OAuth2 client's or axios's (n8n-core 2.41). */
const thrownError = z.object({
	message: z.string(),
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

/** Why a request could not be signed; undefined if a retry may help. @param errors the error that n8n threw, followed by its causes */
function whySignedOut(errors: readonly Error[]): string | undefined {
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
