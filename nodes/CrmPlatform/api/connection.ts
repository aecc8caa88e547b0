import {
	NodeApiError,
	NodeOperationError,
	type IAllExecuteFunctions,
	type JsonObject,
} from 'n8n-workflow';

import { describeResource, type ResourceDescription } from './description';
import { loadDocument, type DocumentSource, type LoadedDocument } from './document';
import type { Problem } from './errors';
import { serviceAddress } from './path';
import {
	createSender,
	systemClock,
	type ApiRequest,
	type ApiResponse,
	type Outcome,
} from './request';
import { signIn, type ServiceCredential } from './signIn';
import { anonymous } from './transport';

/** The service, as one execution or one opened node sees it. */
export interface Connection {
	/** @throws NodeApiError in the user's words */
	send(request: ApiRequest): Promise<ApiResponse>;
	/** What the service offers for the records at `path` (`/contacts`); undefined for none. */
	describe(path: string): Promise<ResourceDescription | undefined>;
	/** Said to the user after the execution. */
	notices: Set<string>;
}

/**
 * Opens the connection the node's credential describes. Nothing is sent yet.
 *
 * @throws NodeOperationError where the credential is not connected, or its address is no web address
 */
export async function connect(n8n: IAllExecuteFunctions, clock = systemClock): Promise<Connection> {
	const { credential, secret, transport: signed } = await signIn(n8n);
	const address = inUsersWords(n8n, () => serviceAddress(credential.baseUrl));
	const signal = 'getExecutionCancelSignal' in n8n ? n8n.getExecutionCancelSignal() : undefined;
	const sender = createSender({ transport: signed, address, signal, clock });

	const source: DocumentSource = {
		url: descriptionUrl(credential, address),
		address,
		secret,
		signed,
		anonymous: anonymous(n8n),
	};

	const notices = new Set<string>();
	let loading: Promise<LoadedDocument> | undefined;
	const known = new Map<string, ResourceDescription | undefined>();

	return {
		notices,

		async send(request) {
			return result(n8n, await uncancelled(n8n, sender(request), signal));
		},

		async describe(path) {
			loading ??= loadDocument(source, clock);
			const { document, notice } = await loading;
			if (notice) notices.add(notice);
			if (!known.has(path)) known.set(path, describeResource(document, path));
			return known.get(path);
		},
	};
}

/** Where the description is when the credential does not say it. */
export function descriptionUrl(credential: ServiceCredential, address: string): string {
	return credential.descriptionUrl?.trim() || `${address}/openapi.json`;
}

/**
 * Gives the response or fails with the problem.
 *
 * @throws NodeApiError carrying the problem's words, and its cause for n8n's own back-off
 */
function result(n8n: IAllExecuteFunctions, outcome: Outcome): ApiResponse {
	if (outcome.ok) return outcome.response;
	throw nodeError(n8n, outcome.problem);
}

export function nodeError(n8n: IAllExecuteFunctions, problem: Problem): NodeApiError {
	const { message, description, status, details, returnAt } = problem;
	const options: ConstructorParameters<typeof NodeApiError>[2] = { message, description };
	if (status !== undefined) options.httpCode = String(status);
	if (status === 429) {
		options.failure = { cause: 'rate-limited' };
		if (returnAt !== undefined) options.failure.resetsAtEpochMs = returnAt;
	} else if (status === undefined || status >= 500) {
		options.failure = { cause: 'temporarily-unavailable' };
	} else if (status === 401) {
		options.failure = { cause: 'credential-invalid' };
	}
	const error = new NodeApiError(n8n.getNode(), details as JsonObject, options);
	error.context.data = details;
	return error;
}

async function uncancelled(
	n8n: IAllExecuteFunctions,
	sending: Promise<Outcome>,
	signal: AbortSignal | undefined,
): Promise<Outcome> {
	try {
		return await sending;
	} catch (error) {
		const reason = signal?.aborted ? 'The execution was cancelled' : (error as Error);
		throw new NodeOperationError(n8n.getNode(), reason);
	}
}

function inUsersWords<T>(n8n: IAllExecuteFunctions, work: () => T): T {
	try {
		return work();
	} catch (error) {
		throw new NodeOperationError(n8n.getNode(), error as Error);
	}
}
