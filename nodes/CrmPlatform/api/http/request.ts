import { ndjson, type SuccessfulAnswer } from './answer';
import { systemClock } from '../../base/clock';
import { jsonText } from '../../base/numbers';
import type { Priority } from './fairQueue';
import { queryString, type Query } from './path';
import { RequestAttempts, type RequestAnswer, type SenderContext } from './requestAttempts';
import { queueFor, RequestQueue, type QueueOptions } from './requestQueue';
import { retryPolicy } from './retry';
import type { HttpRequest } from './transport';

export interface ApiRequest {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Path relative to the service's address, such as `/v1/contacts`. */
	path: string;
	query?: Query;
	/** Sent as JSON. */
	body?: object;
	/** JSON texts, sent as newline-delimited JSON instead of `body`. */
	lines?: string[];
	/** Added to the node's headers, or replacing them; lower-case names. */
	headers?: Record<string, string>;
	/** Lets the service recognize a repeated write. */
	idempotency?: Idempotency;
	/** Whether repeating the request has no further effect; by default, the result of `isIdempotent`. */
	isRepeatable?: boolean;
}

/** The idempotency key of a request. */
interface Idempotency {
	/** Name of the header. */
	header: string;
	key: string;
	/**
	 * False if the API description does not say that the service honors the key. The key is sent anyway, but does not make
	 * the write repeatable.
	 */
	isGuaranteed?: boolean;
}

export type ApiResponse = SuccessfulAnswer['response'];

type Sender = (request: ApiRequest) => Promise<RequestAnswer>;

interface SenderOptions
	extends Pick<SenderContext, 'transport' | 'signal' | 'onWait'>, Partial<Pick<SenderContext, 'clock' | 'policy' | 'shownAddress'>> {
	/** Address of the service without version prefix; error messages show it unless `shownAddress` is set. */
	address: string;
	/** Milliseconds that a connection may be silent. */
	timeout?: number;
	/** Milliseconds until a response must be complete. */
	totalTimeout?: number;
	/** By default, the sender has its own queue. */
	queueOptions?: QueueOptions;
}

/** Requests after which an execution counts as bulk: more than a form, a look-up or a few pages need. */
const bulkThreshold = 20;

/** Milliseconds. A page or a batch takes seconds, an export over a slow connection minutes. */
const defaultTotalTimeout = 5 * 60_000;

/**
 * All requests to the service pass through a sender. It retries transient errors, respects rate limits, and
 * turns every response into data or a problem in the user's words.
 */
export function createSender(options: SenderOptions): Sender {
	const { address, queueOptions, clock = systemClock, policy = retryPolicy, shownAddress = address } = options;
	const { timeout = 60_000, totalTimeout = defaultTotalTimeout } = options;
	const privateQueue = queueOptions ? undefined : new RequestQueue(clock);
	const queue = () => privateQueue ?? queueFor(queueOptions?.queueKey ?? '', clock);
	const execution = queueOptions?.execution || options;
	const currentPriority = (): Priority =>
		(queue().sentCount(execution) < bulkThreshold ? queueOptions?.priority : queueOptions?.laterPriority) ?? 'ordinary';
	const sender: SenderContext = { ...options, shownAddress, clock, policy, queue, execution, currentPriority };

	return async (request) => {
		const hasKey = request.idempotency !== undefined;
		const isKeyed = hasKey && request.idempotency?.isGuaranteed !== false;
		const isRepeatable = isKeyed || (request.isRepeatable ?? isIdempotent(request));
		const http: HttpRequest = { ...toHttpRequest(request, address), timeout, totalTimeout };
		return await new RequestAttempts(sender, { http, isRepeatable, hasKey }).send();
	};
}

/**
 * Whether the semantics of the method allow repeating a request (RFC 9110, section 9.2.2). A PATCH here
 * is a merge patch (RFC 7396), which sets values. A PUT with a query is an upsert, which may create a
 * second record while the first attempt is still running. Under If-Match, a repeated change fails
 * because the first one succeeded.
 */
export function isIdempotent({ method, query = {}, body, headers = {} }: ApiRequest): boolean {
	if (method === 'GET' || method === 'DELETE') return true;
	if (method === 'POST' || 'if-match' in headers) return false;
	if (method === 'PUT') return Object.keys(query).length === 0;
	return body !== undefined && !Array.isArray(body);
}

function toHttpRequest(
	request: ApiRequest,
	address: string,
): Omit<HttpRequest, 'timeout' | 'totalTimeout'> {
	const { method, path, query = {}, body, lines, idempotency } = request;
	return {
		method,
		url: address + path + queryString(query),
		headers: {
			accept: 'application/json',
			...(body && { 'content-type': 'application/json' }),
			...(lines && { 'content-type': ndjson }),
			...(idempotency && { [idempotency.header.toLowerCase()]: idempotency.key }),
			...request.headers,
		},
		...(body && { body: jsonText(body) }),
		...(lines && { body: `${lines.join('\n')}\n` }),
	};
}
