import {
	NodeApiError,
	NodeOperationError,
	type IAllExecuteFunctions,
	type IExecuteFunctions,
	type JsonObject,
} from 'n8n-workflow';

import { describeResource, type ResourceDescription } from './openapi/description';
import { loadDocument, type DocumentSource, type LoadedDocument } from './openapi/document';
import type { Problem } from './http/problem';
import { readEventCatalog, type EventCatalog } from './openapi/eventTypes';
import { serviceAddress } from './http/path';
import {
	createSender,
	systemClock,
	type ApiRequest,
	type ApiResponse,
	type RequestOutcome,
} from './http/request';
import { retryPolicy } from './http/retry';
import { refuseOldN8n } from './oldN8n';
import { signIn, type ServiceCredential } from './signIn';
import { anonymous } from './http/transport';

/** The service, as one execution or one opened node sees it. */
export interface Connection {
	/** Whose records these are, as far as a node knows: the service's address and the credential. */
	account: string;
	/** @throws NodeApiError in the user's words */
	send(request: ApiRequest): Promise<ApiResponse>;
	/** Waits that many milliseconds. @throws NodeOperationError where the execution is cancelled */
	pause(ms: number): Promise<void>;
	/** What the service offers for the records at `path` (`/contacts`); undefined for none. */
	describe(path: string): Promise<ResourceDescription | undefined>;
	/** Which events the service tells of. */
	describeEvents(): Promise<EventCatalog>;
	/** The problem as n8n shows it. */
	failure(problem: Problem): NodeApiError;
	/** Said to the user after the execution. */
	notices: Set<string>;
}

/**
 * Opens the connection the node's credential describes. Nothing is sent yet.
 *
 * @throws NodeOperationError where this n8n is too old, the credential is not connected, or its
 * address is no web address
 */
export async function connect(n8n: IAllExecuteFunctions, clock = systemClock): Promise<Connection> {
	inUsersWords(n8n, refuseOldN8n);
	const { credential, id, secret, transport: signed } = await signIn(n8n);
	const address = inUsersWords(n8n, () => serviceAddress(credential.baseUrl));
	const signal = 'getExecutionCancelSignal' in n8n ? n8n.getExecutionCancelSignal() : undefined;
	const notices = new Set<string>();
	const sender = createSender({
		transport: signed,
		address,
		signal,
		clock,
		policy: { ...retryPolicy, longestWait: longestWaitOf(n8n) },
		waiting: waitingTold(n8n, notices),
	});

	const source: DocumentSource = {
		url: descriptionUrl(credential, address),
		address,
		secret,
		signed,
		anonymous: anonymous(n8n),
	};

	let loading: Promise<LoadedDocument> | undefined;

	const described = async () => {
		loading ??= loadDocument(source, clock);
		const { document, notice } = await loading;
		if (notice) notices.add(notice);
		return document;
	};

	return {
		account: `${address} ${id}`,

		notices,

		failure: (problem) => nodeError(n8n, problem),

		async send(request) {
			return result(n8n, await uncancelled(n8n, sender(request), signal));
		},

		pause: async (ms) => await uncancelled(n8n, clock.sleep(ms, signal), signal),

		describe: async (path) => describeResource(await described(), path),

		describeEvents: async () => readEventCatalog(await described()),
	};
}

/** Milliseconds a request may wait in all: the node's option, where it has been set. */
function longestWaitOf(n8n: IAllExecuteFunctions): number {
	// What n8n gives to a poll has to do for more than waiting.
	if ('getPollBudgetMs' in n8n) return n8n.getPollBudgetMs() / 2;
	if (!('getInputData' in n8n)) return retryPolicy.longestWait;
	const seconds = Number((n8n as IExecuteFunctions).getNodeParameter('options.longestWait', 0, NaN));
	return seconds >= 0 ? seconds * 1000 : retryPolicy.longestWait;
}

/** Says of waits that a user would notice: in n8n's log when they begin, on the node when it is done. */
function waitingTold(n8n: IAllExecuteFunctions, notices: Set<string>): (ms: number) => void {
	let longest = 0;
	return (ms) => {
		if (ms < noticeable) return;
		const seconds = Math.round(ms / 1000);
		n8n.logger.info(`${n8n.getNode().name}: waiting ${seconds} s for the service`);
		if (ms <= longest) return;
		notices.delete(waited(longest));
		longest = ms;
		notices.add(waited(longest));
	};
}

/** Milliseconds; a shorter wait is not worth telling. */
const noticeable = 5_000;

function waited(ms: number): string {
	return `The node had to wait for the service, up to ${Math.round(ms / 1000)} s at a time. With fewer requests at once, or a larger plan, it is faster.`;
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
function result(n8n: IAllExecuteFunctions, outcome: RequestOutcome): ApiResponse {
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

async function uncancelled<T>(
	n8n: IAllExecuteFunctions,
	work: Promise<T>,
	signal: AbortSignal | undefined,
): Promise<T> {
	try {
		return await work;
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
