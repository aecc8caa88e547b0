import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { type Sandbox, startSandbox } from '../../sandbox/serve.ts';
import { brokenAnswerPromises } from '../fuzz/answer-promises.ts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await startSandbox({ contacts: 0, apiKey: 'KEY' });
});
afterAll(() => sandbox.close());

/** Connects, and collects what is received until the connection closes. */
function openConnection() {
	const socket = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
	let text = '';
	socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
	return { socket, received: once(socket, 'close').then(() => text) };
}

/** Sends bytes, ends, and reads the response. */
async function sendBytes(bytes: string) {
	const { socket, received } = openConnection();
	socket.end(bytes, 'latin1');
	const text = await received;
	const [head = '', body = ''] = text.split('\r\n\r\n');
	const [status = '', ...lines] = head.split('\r\n');
	const headers = lines.map((line) => line.split(': ') as [string, string]);
	return { status: Number(status.split(' ')[1]), headers: new Headers(headers), text: body };
}

const commonHeaders = 'Host: x\r\nConnection: close\r\nAuthorization: Bearer KEY\r\n';
const get = (path: string, headers = commonHeaders) => `GET ${path} HTTP/1.1\r\n${headers}\r\n`;
const post = (headers: string, body: string) =>
	`POST /v1/contacts HTTP/1.1\r\n${commonHeaders}Content-Type: application/json\r\n${headers}\r\n${body}`;
const tooLong = 'x'.repeat(20_000);

test.each([
	['text that is not HTTP', 'hello\r\n\r\n', 400, 'malformed_request'],
	['an unknown method', `BREW / HTTP/1.1\r\n${commonHeaders}\r\n`, 400, 'malformed_request'],
	['a missing host', get('/', 'Connection: close\r\n'), 400, 'malformed_request'],
	['an invalid host', get('/', 'Host: a b\r\nConnection: close\r\n'), 400, 'malformed_request'],
	['an invalid address', get('http://['), 400, 'malformed_request'],
	['a broken header', get('/', `${commonHeaders}a b\r\n`), 400, 'malformed_request'],
	['two lengths', post('Content-Length: 1\r\nContent-Length: 2\r\n', '{}'), 400, 'malformed_request'],
	['a negative length', post('Content-Length: -1\r\n', '{}'), 400, 'malformed_request'],
	['a body cut off', post('Content-Length: 99\r\n', '{"a"'), 400, 'malformed_request'],
	['broken chunks', post('Transfer-Encoding: chunked\r\n', 'zz\r\n{}'), 400, 'malformed_request'],
	['a long address', get(`/${tooLong}`), 431, 'headers_too_large'],
	['a long header', get('/', `${commonHeaders}A: ${tooLong}\r\n`), 431, 'headers_too_large'],
	['an expectation', post('Expect: magic\r\nContent-Length: 2\r\n', '{}'), 422, 'validation_failed'],
	['a trace', `TRACE /v1/contacts HTTP/1.1\r\n${commonHeaders}\r\n`, 405, 'method_not_allowed'],
	['an upgrade', get('/nothing', `${commonHeaders}Upgrade: websocket\r\n`), 404, 'not_found'],
])('%s is refused in the usual format', async (_, bytes, status, code) => {
	const response = await sendBytes(bytes);
	expect(response).toMatchObject({ status, text: expect.stringContaining(`"code":"${code}"`) });
	expect(brokenAnswerPromises('GET', '/', response)).toEqual([]);
});

test.each([
	['/v1/contacts/batch/create?nope=1', 'application/json', JSON.stringify({ items: [{ last_name: 'x'.repeat(400_000) }] })],
	['/v1/contacts/batch/create?nope=1', 'application/json', JSON.stringify({ items: [{ last_name: 'x'.repeat(4_000_000) }] })],
	['/v1/jobs?resource=nothing&operation=create', 'application/x-ndjson', '{"last_name":"x"}\n'.repeat(300_000)],
])('after a request to %s is refused with its body unread, the connection answers the next request', async (path, type, body) => {
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	const send = async (method: string, to: string, payload?: string) => {
		const headers = { Authorization: 'Bearer KEY', ...(payload !== undefined && { 'Content-Type': type, 'Content-Length': payload.length }) };
		const sending = request(sandbox.url + to, { method, agent, headers });
		sending.end(payload);
		const [response] = (await once(sending, 'response')) as [IncomingMessage];
		await once(response.resume(), 'end');
		return response.statusCode;
	};
	for (let i = 0; i < 5; i++) {
		expect(await send('POST', path, body)).toBe(400);
		expect(await send('GET', '/v1/contacts')).toBe(200);
	}
	agent.destroy();
});

test.each(['/v1/jobs?resource=nothing&operation=create', '/v1/contacts/batch/create?nope=1'])(
	'a refused request to %s whose body arrives slowly is answered after it, and the next request on the connection is, too',
	async (path) => {
		const { socket, received } = openConnection();
		const headers = 'Host: x\r\nAuthorization: Bearer KEY\r\n';
		socket.write(`POST ${path} HTTP/1.1\r\n${headers}Content-Type: application/x-ndjson\r\nContent-Length: 20\r\n\r\n{"last_name"`);
		// Longer than @hono/node-server receives the rest of a request that it has answered.
		await new Promise((resolve) => setTimeout(resolve, 800));
		socket.write(`:"x"}\n\n\nGET /v1/contacts HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
		expect([...(await received).matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)).toEqual(['400', '200']);
	},
);
