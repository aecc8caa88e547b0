import { serve } from '@hono/node-server';
import type { AddressInfo } from 'node:net';

import { createApp, type ReceivedRequest } from './app.ts';

export interface SecondService {
	/** The base address, without /v1 and without a slash at its end. */
	url: string;
	apiKey: string;
	requests: ReceivedRequest[];
	close(): Promise<void>;
}

/**
 * Starts a second service with the same API under other names: it shows that a client learns
 * names from the description and knows none by heart. It listens on 127.0.0.1, keeps everything
 * in memory and refuses whatever its description does not offer.
 *
 * @param options.port 0, the default, takes a free one
 * @param options.people how many contacts it holds at the start, 300 by default
 */
export async function startSecondService(
	options: { port?: number; apiKey?: string; people?: number } = {},
): Promise<SecondService> {
	const { port = 0, apiKey = 'key-of-the-second-service', people = 300 } = options;
	const requests: ReceivedRequest[] = [];
	const app = createApp({ apiKey, people, requests });
	const server = await new Promise<ReturnType<typeof serve>>((resolve, reject) => {
		const listening = { fetch: app.fetch, port, hostname: '127.0.0.1' };
		const started = serve(listening, () => resolve(started));
		started.once('error', reject);
	});
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		apiKey,
		requests,
		close: () =>
			new Promise((resolve, reject) => {
				server.close((error) => (error ? reject(error) : resolve()));
				if ('closeAllConnections' in server) server.closeAllConnections();
			}),
	};
}
