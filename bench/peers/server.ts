import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { contactNumber } from './contacts.ts';
import { type ServiceRequest, type Body, isPage, type Service, services } from './services.ts';

/**
 * The neutral server: all services of the benchmark, told apart by host, with the same contacts and
 * nothing behind them. It listens with TLS, and without for `ServerSettings`.
 *
 * Arguments: the built package's description, the certificate and its key.
 */
export interface ServerSettings {
	contacts: number;
}

const [descriptionFile, certificate, key] = process.argv.slice(2).map((file) => readFileSync(file));
const description = descriptionFile!;
const byHost = new Map(services.map((service) => [service.host, service]));
/** Each contact's JSON, in the shape of each service. */
const texts = new Map(services.map((service) => [service, [] as string[]]));

let settings: ServerSettings = { contacts: 0 };

function handle(incoming: IncomingMessage, outgoing: ServerResponse): void {
	const chunks: Buffer[] = [];
	incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
	incoming.on('end', () => {
		const text = Buffer.concat(chunks).toString();
		const url = new URL(incoming.url!, 'http://server');
		const service = byHost.get(incoming.headers.host!.replace(/:\d+$/, ''));
		if (!service) return void outgoing.writeHead(404).end();
		const request: ServiceRequest = {
			method: incoming.method!,
			path: url.pathname,
			query: url.searchParams,
			body: (text === '' ? {} : JSON.parse(text)) as Body,
		};
		sendResponse(service, request, outgoing);
	});
}

function sendResponse(service: Service, request: ServiceRequest, outgoing: ServerResponse): void {
	const headers: Record<string, string> = { 'content-type': 'application/json' };
	if (request.path === '/openapi.json') return void outgoing.writeHead(200, headers).end(description);
	const reply = service.respond(request, settings.contacts);
	if (isPage(reply)) {
		const { from, before, size, envelope } = reply;
		const end = Math.min(from + size, before);
		const [head, tail] = envelope({ next: end < before ? end : undefined });
		return void outgoing.writeHead(200, headers).end(`${head}${recordsOf(service, from, end)}${tail}`);
	}
	const { status = 200, json } = reply;
	if (json === undefined) return void outgoing.writeHead(status).end();
	outgoing.writeHead(status, headers).end(JSON.stringify(json));
}

function recordsOf(service: Service, from: number, before: number): string {
	const cachedTexts = texts.get(service)!;
	for (let number = from; number < before; number++) {
		cachedTexts[number] ??= JSON.stringify(service.record(contactNumber(number)));
	}
	return cachedTexts.slice(from, before).join(',');
}

const secure = createTlsServer({ cert: certificate, key, noDelay: true }, handle);

const controls = createServer((incoming, outgoing) => {
	const chunks: Buffer[] = [];
	incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
	incoming.on('end', () => {
		settings = JSON.parse(Buffer.concat(chunks).toString()) as ServerSettings;
		outgoing.end();
	});
});

const ports: number[] = [];
for (const server of [secure, controls]) {
	server.keepAliveTimeout = 60_000;
	await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
	ports.push((server.address() as AddressInfo).port);
}
console.log(ports.map((port) => `127.0.0.1:${port}`).join(' '));
