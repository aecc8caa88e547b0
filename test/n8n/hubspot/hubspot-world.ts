import { resolve } from 'node:path';
import { startWorld, startWorlds } from '../harness/world.ts';
import { startHubSpot } from './account.ts';
import { startInterceptingProxy } from './intercepting-proxy.ts';

/** Starts n8n as the end-to-end tests do, and a HubSpot account that it takes for the real one. */
export async function startHubSpotWorld(): Promise<void> {
	await startWorlds(resolve('.tmp', 'e2e'), async (closers) => {
		const account = await startHubSpot();
		closers.defer(() => account.close());
		const proxy = await startInterceptingProxy('api.hubapi.com', account.answer);
		closers.defer(() => proxy.close());
		process.env['HUBSPOT_ACCOUNT'] = account.url;
		const settings = { HTTPS_PROXY: proxy.url, https_proxy: proxy.url, NODE_EXTRA_CA_CERTS: proxy.certificate };
		return await startWorld(closers, 1, settings);
	});
}
