import type {
	IAllExecuteFunctions,
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	IHttpRequestMethods,
	IHttpRequestOptions,
} from 'n8n-workflow';

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
export type Transport = (request: HttpRequest) => Promise<HttpResponse | NoResponse>;

/** Requests signed with the user's credential. */
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

async function settle(sent: Promise<unknown>): Promise<HttpResponse | NoResponse> {
	try {
		const { statusCode, headers, body } = (await sent) as FullResponse;
		return { status: statusCode, headers, text: typeof body === 'string' ? body : '' };
	} catch (error) {
		return { connectionError: connectionCode(error) };
	}
}

/** n8n wraps what axios threw, which wraps what Node.js threw; the innermost code says most. */
function connectionCode(error: unknown): string {
	let code = 'UNKNOWN';
	for (let e = error; e instanceof Error; e = e.cause) {
		if ('code' in e && typeof e.code === 'string' && e.code !== '') code = e.code;
	}
	return code;
}
