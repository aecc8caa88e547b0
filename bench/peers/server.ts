import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { contactNumber } from './contacts.ts';
import { type ServiceRequest, type Body, isPage, type Service, services } from './services.ts';
import { FixedWindowPlan } from './plan.ts';

/**
 * The neutral server: all services of the benchmark, told apart by host, with the same contacts and
 * nothing behind them. It listens without TLS, with TLS, and for `ServerSettings`, which it answers with what
 * each host has received.
 *
 * Arguments: the built package's description, the certificate and its key.
 */
export interface ServerSettings {
	contacts: number;
	/** Requests each service allows per window; unlimited if absent. */
	plan?: { requests: number; windowMs: number };
}

/** What a service has received since the last settings. */
export interface Seen {
	requests: number;
	refused: number;
	/** Records of all POST requests, in batches or one by one. */
	posted: number;
	/** The least time the plan allows for them, in milliseconds. */
	leastMs: number;
}

const [descriptionFile, certificate, key] = process.argv.slice(2).map((file) => readFileSync(file));
const description = descriptionFile!;
const byHost = new Map(services.map((service) => [service.host, service]));
/** Each contact's JSON, in the shape of each service. */
const texts = new Map(services.map((service) => [service, [] as string[]]));

let settings: ServerSettings = { contacts: 0 };
let plans = new Map<string, FixedWindowPlan>();
let seen = new Map<string, Seen>();
let connections = 0;
let open = 0;

const seenBy = (host: string): Seen => {
	const stats = seen.get(host) ?? { requests: 0, refused: 0, posted: 0, leastMs: 0 };
	seen.set(host, stats);
	return stats;
};

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

function control(text: string, outgoing: ServerResponse): void {
	if (text !== '') {
		settings = JSON.parse(text) as ServerSettings;
		plans = new Map();
		seen = new Map();
		connections = 0;
	}
	for (const [host, plan] of plans) seenBy(host).leastMs = plan.leastMs();
	outgoing.end(JSON.stringify({ connections, open, hosts: Object.fromEntries(seen) }));
}

function sendResponse(service: Service, request: ServiceRequest, outgoing: ServerResponse): void {
	const headers: Record<string, string> = { 'content-type': 'application/json' };
	if (request.path === '/openapi.json') return void outgoing.writeHead(200, headers).end(description);
	const stats = seenBy(service.host);
	stats.requests += 1;
	const { plan } = settings;
	if (plan) {
		if (!plans.has(service.host)) plans.set(service.host, new FixedWindowPlan(plan));
		const verdict = plans.get(service.host)!.take(Date.now());
		Object.assign(headers, verdict.headers);
		if (!verdict.allowed) {
			stats.refused += 1;
			const problem = { status: 429, code: 'rate_limited', title: 'Too many requests' };
			return void outgoing.writeHead(429, headers).end(JSON.stringify(problem));
		}
	}
	const reply = service.respond(request, settings.contacts);
	if (isPage(reply)) {
		const { from, before, size, envelope } = reply;
		const end = Math.min(from + size, before);
		const [head, tail] = envelope({ next: end < before ? end : undefined });
		return void outgoing.writeHead(200, headers).end(`${head}${recordsOf(service, from, end)}${tail}`);
	}
	if (request.method === 'POST') stats.posted += request.body.items?.length ?? 1;
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

const plain = createServer({ noDelay: true }, handle);
const secure = createTlsServer({ cert: certificate, key, noDelay: true }, handle);
plain.on('connection', count);
secure.on('secureConnection', count);

function count(socket: Socket): void {
	connections += 1;
	open += 1;
	socket.on('close', () => (open -= 1));
}

const controls = createServer((incoming, outgoing) => {
	const chunks: Buffer[] = [];
	incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
	incoming.on('end', () => control(Buffer.concat(chunks).toString(), outgoing));
});

const ports: number[] = [];
for (const server of [plain, secure, controls]) {
	server.keepAliveTimeout = 60_000;
	await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
	ports.push((server.address() as AddressInfo).port);
}
console.log(ports.map((port) => `127.0.0.1:${port}`).join(' '));
