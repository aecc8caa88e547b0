import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { until } from '../../until.ts';
import type { Json } from './in-process.ts';

export interface Received {
	headers: IncomingHttpHeaders;
	/** The exact bytes, as text. */
	text: string;
	event: Json;
}

/** Something that webhooks are sent to: a real server on this machine. */
export interface Receiver {
	url: string;
	/** All that came, in the order in which it came. */
	received: Received[];
	/** How it answers from now on; 204 if not said otherwise. */
	answer: RequestListener;
	/** Waits until so many have come; gives their events, in sequence. */
	events(count: number): Promise<Json[]>;
	close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
	const server = createServer((request, response) => {
		let text = '';
		request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
		request.on('end', () => {
			receiver.received.push({ headers: request.headers, text, event: JSON.parse(text) });
			receiver.answer(request, response);
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const receiver: Receiver = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
		received: [],
		answer: (_request, response) => void response.writeHead(204).end(),
		async events(count) {
			await until(() => receiver.received.length >= count);
			const events = receiver.received.map(({ event }) => event);
			return events.sort((a, b) => a.sequence - b.sequence);
		},
		async close() {
			const closed = once(server, 'close');
			server.close();
			server.closeAllConnections();
			await closed;
		},
	};
	return receiver;
}

/** @throws WebhookVerificationError unless it was signed with the secret, less than 5 minutes ago */
export const verify = ({ headers, text }: Received, secret: string): unknown =>
	new Webhook(secret).verify(text, headers as Record<string, string>);
