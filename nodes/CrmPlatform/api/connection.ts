import { createHmac } from 'node:crypto';

import {
	NodeApiError,
	NodeOperationError,
	type IAllExecuteFunctions,
	type JsonObject,
} from 'n8n-workflow';

import { describeRequest } from './openapi/describedRequest';
import { describeResource, type ResourceDescription } from './openapi/description';
import { loadDocument, type DocumentSource, type LoadedDocument } from './openapi/document';
import { wrongBaseUrl } from './openapi/paths';
import { leftOutOf } from './openapi/work';
import type { Problem } from './http/problem';
import { readEventCatalog, type EventCatalog } from './openapi/eventTypes';
import type { IdempotencyHeader } from './openapi/idempotencyHeader';
import { serviceAddress } from './http/path';
import { systemClock } from './http/clock';
import { createSender, type ApiRequest, type ApiResponse } from './http/request';
import { rateLimited, retryPolicy } from './http/retry';
import { secretsIn, withoutSecrets } from './http/secrets';
import { refuseOldN8n } from './oldN8n';
import { signIn, type ServiceCredential } from './signIn';
import { anonymous } from './http/transport';
import { maxWaitOf, queueOptionsOf, readReserve, reportWaits } from './waits';

/** The service, as one execution or one opened node sees it. */
export interface Connection {
	/** Identifies the account as far as a node can: the service's address and the credential. */
	account: string;
	/** Equal for connections that always see the same data. */
	view: string;
	/** Signs a text with the credential: 20 hexadecimal digits. */
	sign(text: string): string;
	/** @throws NodeApiError in the user's words */
	send(request: ApiRequest): Promise<ApiResponse>;
	/** Waits that many milliseconds. @throws NodeOperationError where the execution is cancelled */
	pause(ms: number): Promise<void>;
	/** What the service offers for the records at `path` (`/contacts`); undefined where it does not know it. */
	describe(path: string): Promise<ResourceDescription | undefined>;
	/** How the operation at a path takes idempotency keys; undefined where it is not described. */
	describeRequest(method: string, path: string): Promise<IdempotencyHeader | undefined>;
	/** Which events the service reports. */
	describeEvents(): Promise<EventCatalog>;
	/** Whether the description is the service's own, and not the packaged one; true before it is loaded. */
	isSelfDescribed(): boolean;
	/** @throws Error in the user's words where `feature` needs the service's description, which could not be read */
	requireDescription(feature: string): void;
	/** The problem as n8n shows it. */
	failure(problem: Problem): NodeApiError;
	/** Notice for the user if the description could not be read, or only in part. */
	descriptionNotice(): string | undefined;
	/** Shown to the user after the execution. */
	readonly notices: Set<string>;
}

/**
 * Opens the connection the node's credential describes. Nothing is sent yet.
 *
 * @throws NodeOperationError where this n8n is too old, the credential is not connected, or its
 * address is not a web address
 */
export async function connect(n8n: IAllExecuteFunctions, clock = systemClock): Promise<Connection> {
	inUsersWords(n8n, refuseOldN8n);
	const { credential, id, secret, view, signingKey, transport: signed } = await signIn(n8n);
	const address = inUsersWords(n8n, () => serviceAddress(credential.baseUrl));
	const signal = 'getExecutionCancelSignal' in n8n ? n8n.getExecutionCancelSignal() : undefined;
	const notices = new Set<string>();
	const maxWait = inUsersWords(n8n, () => maxWaitOf(n8n));
	const reserve = inUsersWords(n8n, () => readReserve(credential.leaveRoom));
	const sender = createSender({
		transport: signed,
		address,
		signal,
		clock,
		policy: { ...retryPolicy, maxWait: maxWait ?? retryPolicy.maxWait },
		queueOptions: { account: `${address} ${view}`, ...queueOptionsOf(n8n, maxWait), reserve },
		onWait: reportWaits(n8n, notices, clock),
	});

	const source: DocumentSource = {
		url: descriptionUrl(credential, address),
		address,
		secret,
		// Not yet stored, a credential has no id.
		...(id.endsWith(' ') ? {} : { credential: id }),
		signed,
		anonymous: anonymous(n8n),
	};

	let loading: Promise<LoadedDocument> | undefined;
	let loaded: LoadedDocument | undefined;
	let isPackaged = false;
	const secrets = [secret, ...secretsIn(source.url), ...secretsIn(credential.baseUrl.trim())];

	const described = async () => {
		loading ??= loadDocument(source, clock);
		loaded = await loading;
		({ isPackaged } = loaded);
		noticed();
		return loaded.document;
	};
	const descriptionNotice = () => {
		const notice = loaded && (loaded.notice ?? leftOutOf(loaded.document));
		return notice && withoutSecrets(notice, secrets);
	};
	// Parts of a description are read when they are needed.
	const noticed = () => {
		const notice = descriptionNotice();
		if (notice !== undefined) notices.add(notice);
		return notices;
	};

	return {
		account: `${address} ${id}`,
		view: `${address} ${view}`,

		sign: (text) => createHmac('sha256', signingKey).update(text).digest('hex').slice(0, 20),

		get notices() {
			return noticed();
		},

		descriptionNotice,

		failure: (problem) => nodeError(n8n, withoutSecrets(problem, secrets)),

		isSelfDescribed: () => !isPackaged,

		requireDescription(feature) {
			if (loaded?.unread !== undefined) throw new Error(`${feature}: ${withoutSecrets(loaded.unread, secrets)}`);
		},

		async send(request) {
			const pendingOutcome = sender(isPackaged ? withoutPromise(request) : request);
			const outcome = await uncancelled(n8n, pendingOutcome, signal);
			if (outcome.ok) return outcome.response;
			throw nodeError(n8n, withoutSecrets(outcome.problem, secrets));
		},

		pause: async (ms) => await uncancelled(n8n, clock.sleep(ms, signal), signal),

		async describe(path) {
			const document = await described();
			const wrong = wrongBaseUrl(document, path, address, source.url);
			if (wrong !== undefined) throw new NodeOperationError(n8n.getNode(), wrong);
			return describeResource(document, path);
		},

		describeRequest: async (method, path) => describeRequest(await described(), method, path),

		describeEvents: async () => readEventCatalog(await described()),
	};
}

/** The packaged description does not show whether this service honors keys. */
function withoutPromise(request: ApiRequest): ApiRequest {
	const { idempotency } = request;
	return idempotency
		? { ...request, idempotency: { ...idempotency, isPromised: idempotency.isPromised ?? false } }
		: request;
}

/** The address of the description; by default the usual one under the service's address. */
export function descriptionUrl(credential: ServiceCredential, address: string): string {
	return credential.descriptionUrl?.trim() || `${address}/openapi.json`;
}

/** The problem as n8n shows it, with its cause for n8n's own back-off. */
export function nodeError(n8n: IAllExecuteFunctions, problem: Problem): NodeApiError {
	const { message, description, status, details, retryAt } = problem;
	const options: ConstructorParameters<typeof NodeApiError>[2] = { message, description };
	if (status !== undefined) options.httpCode = String(status);
	if (status === rateLimited) {
		options.failure = { cause: 'rate-limited' };
		if (retryAt !== undefined) options.failure.resetsAtEpochMs = retryAt;
	} else if (status === undefined || status >= 500) {
		options.failure = { cause: 'temporarily-unavailable' };
	} else if (status === 401) {
		options.failure = { cause: 'credential-invalid' };
	}
	const error = new NodeApiError(n8n.getNode(), details as JsonObject, options);
	error.context.data = details;
	error.context.mayBeDone = problem.mayBeDone;
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
		const reason = signal?.aborted ? 'The execution was canceled' : inWords(error);
		throw new NodeOperationError(n8n.getNode(), reason);
	}
}

function inUsersWords<T>(n8n: IAllExecuteFunctions, work: () => T): T {
	try {
		return work();
	} catch (error) {
		throw new NodeOperationError(n8n.getNode(), inWords(error));
	}
}

/** Errors that JavaScript itself throws: their texts are for programmers. */
const languageErrors = [TypeError, RangeError, SyntaxError, ReferenceError, URIError, EvalError];

/**
 * An error whose message a user can read: the error itself, unless JavaScript threw it, which means a
 * value the node did not expect. The original stays its cause.
 */
export function inWords(error: unknown): Error {
	const isOurs = error instanceof Error && !languageErrors.some((type) => error instanceof type);
	if (isOurs) return error;
	return new Error(
		'The node could not process one of the values. Check the dates, numbers and nested data of this item. If the problem persists, report it with the details of this error.',
		{ cause: error },
	);
}
