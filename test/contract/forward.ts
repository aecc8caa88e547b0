import {
	type IncomingHttpHeaders,
	type IncomingMessage,
	request as newRequest,
	type ServerResponse,
} from 'node:http';
import { randomOf } from '../support/random-runs.ts';

/** `SLOW=200` delays each request and each answer by up to 200 milliseconds, to find races in tests. */
const maxDelayMs = Number(process.env['SLOW'] ?? 0);
const random = randomOf(1);
const later = (go: () => void) => void (maxDelayMs ? setTimeout(go, random() * maxDelayMs) : go());

/** Prism reports what it finds in a header, which may be long. */
const maxHeaderSize = 1024 * 1024;

/**
 * Passes on a request and its answer. If the onward connection breaks, this one does, too.
 *
 * @param url address of the service; the path is that of the request
 * @param headers headers to add, or to remove if undefined
 */
export function forward(
	request: IncomingMessage,
	response: ServerResponse,
	url: string,
	headers: Record<string, string | undefined> = {},
	see: (answer: IncomingMessage) => void = () => undefined,
): void {
	const { method, headers: requestHeaders } = request;
	// Each request has its own connection: a kept one may be closed just when it is used again.
	const forwardedHeaders = withoutUndefined({ ...requestHeaders, ...headers, connection: 'close' });
	const onward = newRequest(
		url + request.url,
		{ method, headers: forwardedHeaders, maxHeaderSize, agent: false },
		(answer) => {
			see(answer);
			const { connection: _, 'keep-alive': __, ...answered } = answer.headers;
			answer.on('error', () => response.destroy());
			later(() => answer.pipe(response.writeHead(answer.statusCode!, answered)));
		},
	);
	onward.on('error', () => response.destroy());
	later(() => request.pipe(onward));
}

const withoutUndefined = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
	Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
