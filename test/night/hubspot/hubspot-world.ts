import { startWorldWith } from '../../e2e/harness/world.ts';
import { startHubSpot } from './account.ts';
import { startDetour } from './detour.ts';

/** Starts n8n as the end-to-end tests do, and an account of HubSpot that it takes for the real one. */
export async function startHubSpotWorld(): Promise<void> {
	const account = await startHubSpot();
	const detour = await startDetour('api.hubapi.com', account.answer);
	process.env['HUBSPOT_ACCOUNT'] = account.url;
	const settings = {
		HTTPS_PROXY: detour.url,
		https_proxy: detour.url,
		NODE_EXTRA_CA_CERTS: detour.certificate,
	};
	await startWorldWith(settings, [() => detour.close(), () => account.close()]);
}
