import { Hono } from 'hono';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Env } from '../../sandbox/core/service.ts';
import { serverFor } from '../../sandbox/http-server.ts';
import { until } from '../until.ts';

/** Long enough for a request to arrive on a busy machine. */
const timeout = 500;
let isWaiting = false;
let answerSlowly: () => void;
const slowAnswer = new Promise<void>((resolve) => (answerSlowly = resolve));
const app = new Hono<Env>()
	.get('/large', (c) => c.body('x'.repeat(50_000_000)))
	.get('/slow', async (c) => {
		isWaiting = true;
		await slowAnswer;
		return c.text('slow');
	});
const server = serverFor(app);
let port: number;
beforeAll(async () => {
	server.timeout = timeout;
	server.keepAliveTimeout = timeout;
	await once(server.listen(0, '127.0.0.1'), 'listening');
	({ port } = server.address() as AddressInfo);
});
afterAll(() => server.closeAllConnections());
afterAll(() => server.close());

const connections = promisify(server.getConnections.bind(server));

async function ask(path: string): Promise<Socket> {
	const socket = connect(port, '127.0.0.1').on('error', () => undefined);
	await once(socket, 'connect');
	socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
	return socket;
}

test('a response that nobody reads is dropped, and a slow one is completed', async () => {
	const waiting = await ask('/slow');
	await until(() => isWaiting);
	const unread = await ask('/large');
	unread.pause();
	expect(await connections()).toBe(2);
	await until(async () => (await connections()) === 1, 20_000);
	expect(waiting.destroyed).toBe(false);
	answerSlowly();
	const [answer] = (await once(waiting, 'data')) as [Buffer];
	expect(answer.toString()).toContain('slow');
	// A connection without a request is closed as before.
	await until(async () => (await connections()) === 0, 20_000);
	unread.destroy();
});
