import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { once } from 'node:events';
import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Problem, type ProblemCode } from './core/foundation/problem.ts';
import type { Env } from './core/service.ts';

/**
 * Creates an HTTP server for the app, not yet listening. Requests that Node.js or hono reject before
 * they reach the app, such as a malformed header or host, get their response from the app as well, so that all
 * errors have one form.
 */
export function serverFor(app: Hono<Env>): Server {
	const refuse = async (problem: Problem): Promise<Response> =>
		app.fetch(new Request('http://localhost/'), { refusal: problem });
	const listener = getRequestListener(app.fetch, { errorHandler: (error) => refuse(malformed(error)) });
	const responding = new WeakSet<Socket>();
	// hono detects a missing host and calls `errorHandler`.
	const server = createServer({ requireHostHeader: false }, (incoming, outgoing) => {
		const { socket } = incoming;
		responding.add(socket);
		outgoing.once('close', () => responding.delete(socket));
		void listener(incoming, outgoing);
	});
	// A response stays in memory until its client reads it. A client that waits for its response is not disconnected.
	server.setTimeout(120_000, (socket) => {
		if (!responding.has(socket) || socket.writableLength > 0) socket.destroy();
	});
	// Longer than clients keep idle connections: if the server closes one just as it is reused, a request is lost.
	server.keepAliveTimeout = 65_000;
	// The app may ignore expectations (RFC 9110, 10.1.1).
	server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing));
	server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
		if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy();
		const refusal = refusals[error.code ?? ''];
		const problem = refusal ? new Problem(...refusal) : malformed(error);
		return void refuse(problem).then((response) => send(response, socket));
	});
	return server;
}

/** By the code of Node's error. */
const refusals: Record<string, [ProblemCode, string]> = {
	HPE_HEADER_OVERFLOW: ['headers_too_large', 'The URL and the headers may have at most 16 KiB in total.'],
	ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time. Send it again.'],
};

const malformed = (error: unknown): Problem => {
	const reason = error instanceof Error ? error.message : String(error);
	return new Problem('malformed_request', `This is not a valid HTTP request: ${reason}.`);
};

/** Writes a response to the socket: Node.js has no response object for a request that it cannot parse. */
async function send(response: Response, socket: Duplex): Promise<void> {
	const body = await response.text();
	const headers = new Headers(response.headers);
	headers.set('Content-Length', `${Buffer.byteLength(body)}`);
	headers.set('Connection', 'close');
	const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
	const status = `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status]}\r\n`;
	socket.end(`${status}${lines}\r\n${body}`);
	await once(socket, 'finish');
	socket.destroy();
}
