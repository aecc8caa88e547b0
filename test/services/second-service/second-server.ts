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
 * Starts a second service with the same API under other names, which shows that a client takes names from the
 * description. It keeps everything in memory, and refuses whatever its description does not offer.
 *
 * @param options.people number of contacts at the start
 */
export async function startSecondService({ people = 300 } = {}): Promise<SecondService> {
	const apiKey = 'key-of-the-second-service';
	const requests: ReceivedRequest[] = [];
	const app = createApp({ apiKey, people, requests });
	const server = await new Promise<ReturnType<typeof serve>>((resolve, reject) => {
		const listening = { fetch: app.fetch, port: 0, hostname: '127.0.0.1' };
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
