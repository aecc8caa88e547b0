import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A server with nothing behind it: it reads requests and answers each method with fixed bytes, which
 * are in the JSON file that is its only argument.
 */
const responses = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Record<string, string>;

const server = createServer((incoming, outgoing) => {
	const chunks: Buffer[] = [];
	incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
	incoming.on('end', () => {
		const name = `${incoming.method} ${incoming.url?.split('?')[0]}`;
		outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end(responses[name]);
	});
});
server.listen(0, '127.0.0.1', () => {
	console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
