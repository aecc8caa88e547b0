import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { startLocalServer } from '../../support/local-server.ts';
import { until } from '../../support/until.ts';
import type { Json } from './in-process.ts';

export interface Received {
	headers: IncomingHttpHeaders;
	/** The exact body. */
	text: string;
	event: Json;
}

/** A receiver of webhooks: a real server on this machine. */
export interface Receiver {
	url: string;
	/** The deliveries, in the order of their arrival. */
	received: Received[];
	/** How it answers from now on; with 204 by default. */
	answer: RequestListener;
	/** Waits for a number of deliveries. @returns their events in sequence */
	events(count: number): Promise<Json[]>;
	close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
	const { url, close } = await startLocalServer((request, response) => {
		let text = '';
		request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
		request.on('end', () => {
			receiver.received.push({ headers: request.headers, text, event: JSON.parse(text) });
			receiver.answer(request, response);
		});
	});
	const receiver: Receiver = {
		url: `${url}/hook`,
		received: [],
		answer: (_request, response) => void response.writeHead(204).end(),
		async events(count) {
			await until(() => receiver.received.length >= count);
			const events = receiver.received.map(({ event }) => event);
			return events.sort((a, b) => a.sequence - b.sequence);
		},
		close,
	};
	return receiver;
}

/** @throws WebhookVerificationError unless it was signed with the secret, less than 5 minutes ago */
export const verify = ({ headers, text }: Received, secret: string): unknown =>
	new Webhook(secret).verify(text, headers as Record<string, string>);
