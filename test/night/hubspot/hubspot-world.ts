import { startWorldWith } from '../../e2e/harness/world.ts';
import { startHubSpot } from './account.ts';
import { startInterceptingProxy } from './intercepting-proxy.ts';

/** Starts n8n as the end-to-end tests do, and an account of HubSpot that it takes for the real one. */
export async function startHubSpotWorld(): Promise<void> {
	const account = await startHubSpot();
	const proxy = await startInterceptingProxy('api.hubapi.com', account.answer);
	process.env['HUBSPOT_ACCOUNT'] = account.url;
	const settings = {
		HTTPS_PROXY: proxy.url,
		https_proxy: proxy.url,
		NODE_EXTRA_CA_CERTS: proxy.certificate,
	};
	await startWorldWith(settings, [() => proxy.close(), () => account.close()]);
}
