import { createHmac } from 'node:crypto';

import { NodeApiError, NodeOperationError, type IAllExecuteFunctions, type JsonObject } from 'n8n-workflow';

import { loadDocument, type DocumentLocation, type LoadedDocument } from './openapi/document';
import { describeResource, type ResourceDescription } from './openapi/description';
import { readEventCatalog, type EventCatalog } from './openapi/eventTypes';
import type { OpenApiDocument } from './openapi/openapi';
import { idempotencyHeaderAt, type IdempotencyHeader } from './openapi/writing';
import { isRefusal, type Problem } from './http/problem';
import { isUntrusted } from './http/errorWords';
import { serviceAddress, type Collection } from './http/path';
import { systemClock } from '../base/clock';
import { onceFor } from '../base/maps';
import { defined } from '../base/ownMembers';
import { sha256 } from '../base/digest';
import { createSender, type ApiRequest, type ApiResponse } from './http/request';
import { secretsIn, withoutSecrets } from './http/secrets';
import { type ServiceCredential, signIn } from './signIn';
import { anonymousTransport, cancelSignalOf } from './http/transport';
import { rateLimited, unauthorized } from './http/statuses';
import { queueOptionsOf, readReserve, reportWaits, requestLimitsOf } from './queueOptions';

/** The service's description of itself. Its document is loaded on first use. */
interface ServiceDescription {
	/** What the service offers for the records at `path` (`/contacts`); undefined if it does not describe that path. */
	describe(path: Collection): Promise<ResourceDescription | undefined>;
	/** How the operation at a whole path (`/v1/contacts`) takes idempotency keys; undefined if the service does not describe it. */
	idempotencyHeaderAt(method: string, path: string): Promise<IdempotencyHeader | undefined>;
	describeEvents(): Promise<EventCatalog>;
	/** Whether the description is the service's own, not the packaged one; true before it is loaded. */
	isSelfDescribed(): boolean;
	/** @throws Error in the user's words if `feature` needs the service's own description, which could not be read */
	requireDescription(feature: string): void;
	/** Notice for the user if the description could not be read. */
	descriptionNotice(): string | undefined;
}

/** The service, as one execution or one opened node sees it. */
export interface Connection extends ServiceDescription {
	/** Equal for connections that always see the same data; empty without a usable credential. */
	viewer: string;
	/** Equal for connections with the same API key or access token. */
	secretDigest: string;
	/** Signs a text with the credential: 20 hexadecimal digits. */
	sign(text: string): string;
	/** @throws NodeApiError in the user's words */
	send(request: ApiRequest): Promise<ApiResponse>;
	/** Whether it has sent a request that may have written: one that the service itself has refused has not. */
	mayHaveWritten(): boolean;
	/** @throws NodeOperationError if the execution is canceled */
	pause(ms: number): Promise<void>;
	failure(problem: Problem): NodeApiError;
	/** Shown to the user after the execution. */
	readonly notices: Set<string>;
}

/**
 * Opens the connection of the node's credential. Nothing is sent yet.
 *
 * @param usualMaxWait seconds, for an execution whose user has not set *Maximum Wait*
 * @throws NodeOperationError if the credential is not connected, or if its address is not a web address
 */
export async function connect(n8n: IAllExecuteFunctions, clock = systemClock, usualMaxWait?: number): Promise<Connection> {
	const { credential, secret, viewer, signingKey, transport } = await signIn(n8n);
	const signal = cancelSignalOf(n8n);
	const [address, limits, reserve] = await inUsersWords(n8n, signal, () => [
		serviceAddress(credential.baseUrl), requestLimitsOf(n8n, usualMaxWait), readReserve(credential.leaveRoom),
	] as const);
	const notices = new Set<string>();
	const location: DocumentLocation = {
		url: descriptionUrl(credential, address),
		address,
		viewer,
		signed: transport,
		anonymous: anonymousTransport(n8n),
	};
	const secrets = [secret, ...secretsIn(location.url), ...secretsIn(credential.baseUrl.trim())];
	const description = describedBy(async () => {
		const { notice, whyUnread, ...loaded } = await loadDocument(location, clock);
		return { ...loaded, ...withoutSecrets(defined({ notice, whyUnread }), secrets) };
	}, notices);
	const sender = createSender({
		transport,
		honorsKeys: description.isSelfDescribed,
		address,
		signal,
		clock,
		limits,
		queueOptions: { queueName: `${address} ${viewer}`, ...queueOptionsOf(n8n), reserve },
		onWait: reportWaits(notices, clock),
	});
	const failure = (problem: Problem) => nodeError(n8n, withoutSecrets(problem, secrets));
	let possibleWrites = 0;

	return {
		...description,
		viewer: `${address} ${viewer}`,
		secretDigest: sha256(secret),
		sign: (text) => createHmac('sha256', signingKey).update(text).digest('hex').slice(0, 20),
		notices,
		failure,
		mayHaveWritten: () => possibleWrites > 0,
		async send(request) {
			const isWrite = request.method !== 'GET';
			if (isWrite) possibleWrites += 1;
			const answer = await inUsersWords(n8n, signal, async () => await sender(request));
			if (answer.ok) return answer.response;
			if (isWrite && isRefusal(answer.problem)) possibleWrites -= 1;
			throw failure(answer.problem);
		},
		pause: async (ms) => await inUsersWords(n8n, signal, async () => await clock.sleep(ms, signal)),
	};
}

export function descriptionUrl(credential: ServiceCredential, address: string): string {
	return credential.descriptionUrl?.trim() || `${address}/openapi.json`;
}

/** The problem as n8n shows it, with the cause, by which n8n decides about its own back-off. */
export function nodeError(n8n: IAllExecuteFunctions, problem: Problem): NodeApiError {
	const { message, description, status, details, retryAt } = problem;
	const options: ConstructorParameters<typeof NodeApiError>[2] = { message, description };
	if (status !== undefined) options.httpCode = String(status);
	const isPassing = status === undefined ? !isUntrusted(String(details.reason)) : status >= 500;
	if (status === rateLimited) options.failure = { cause: 'rate-limited', ...(retryAt !== undefined && { resetsAtEpochMs: retryAt }) };
	else if (isPassing) options.failure = { cause: 'temporarily-unavailable' };
	else if (status === unauthorized) options.failure = { cause: 'credential-invalid' };
	const error = new NodeApiError(n8n.getNode(), details as JsonObject, options);
	error.context.data = details;
	error.context.mayBeDone = problem.mayBeDone;
	return error;
}

async function inUsersWords<T>(n8n: IAllExecuteFunctions, signal: AbortSignal | undefined, work: () => T | Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		throw new NodeOperationError(n8n.getNode(), signal?.aborted ? 'The execution was canceled' : readableError(error));
	}
}

/** Errors of JavaScript, whose messages are for programmers. */
const languageErrors = [TypeError, RangeError, SyntaxError, ReferenceError, URIError, EvalError];

/** The error itself or, for one that JavaScript threw because of an unexpected value, a readable one of which it is the cause. */
export function readableError(error: unknown): Error {
	if (error instanceof Error && !languageErrors.some((type) => error instanceof type)) return error;
	return new Error(
		'The node could not process one of the values. Check the dates, numbers and nested data of this item. ' +
			'If the problem persists, report it with the details of this error.',
		{ cause: error },
	);
}

/**
 * Caches the results of `read` by its names for the lifetime of a connection, one execution: a file is processed in parts.
 * Callers at the same time share one reading; failures are not cached; `forget` has it read again.
 */
export function oncePerConnection<Names extends string[], Value>(
	read: (api: Connection, ...names: Names) => Promise<Value>,
): ((api: Connection, ...names: Names) => Promise<Value>) & { forget(api: Connection, ...names: Names): void } {
	const cache = onceFor<Connection, { reading?: Promise<Value> }>(() => ({}));
	const readOnce = async (api: Connection, ...names: Names): Promise<Value> => {
		const cached = cache(api, JSON.stringify(names));
		return await (cached.reading ??= read(api, ...names).catch((error: unknown) => {
			delete cached.reading;
			throw error;
		}));
	};
	return Object.assign(readOnce, { forget: (api: Connection, ...names: Names) => void delete cache(api, JSON.stringify(names)).reading });
}

/** What the loaded document says. Its notice is added to `notices`. */
export function describedBy(load: () => Promise<LoadedDocument>, notices: Set<string>): ServiceDescription {
	let loading: Promise<LoadedDocument> | undefined;
	let loaded: LoadedDocument | undefined;
	const readDocument = async (): Promise<OpenApiDocument> => {
		loaded = await (loading ??= load());
		if (loaded.notice !== undefined) notices.add(loaded.notice);
		return loaded.document;
	};
	return {
		describe: async (path) => describeResource(await readDocument(), path),
		idempotencyHeaderAt: async (method, path) => idempotencyHeaderAt(await readDocument(), method, path),
		describeEvents: async () => readEventCatalog(await readDocument()),
		isSelfDescribed: () => loaded?.isPackaged !== true,
		requireDescription(feature) {
			if (loaded?.whyUnread !== undefined) throw new Error(`${feature}: ${loaded.whyUnread}`);
		},
		descriptionNotice: () => loaded?.notice,
	};
}
