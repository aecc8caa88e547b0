import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { installCommunityPackage } from '../../../demo/community-package.ts';
import { installN8n } from '../../../tools/n8n.mjs';
import { N8nClient } from '../../../demo/n8n-client.ts';
import { startN8n } from '../../../demo/n8n-process.ts';
import { freePort } from '../../../demo/ports.ts';
import { startSandbox } from '../../../sandbox/serve.ts';
import { chromium, findProgram } from '../../../tools/system-program.ts';
import type { World } from './access.ts';
import { packBuilt } from './built-package.ts';

/** More than two of the largest pages. */
const CONTACTS = 1_200;

/** Kept after the run, to look into when a test has failed: n8n's log and the screenshots. */
const OUTPUT = resolve('.tmp', 'e2e');

const closers: Array<() => unknown> = [];

/** Builds and packs the package and starts a new n8n with it, and a new sandbox, for each worker of jest. */
export const startWorld = async ({ maxWorkers }: { maxWorkers: number }): Promise<void> => await startWorldWith({}, [], maxWorkers);

/**
 * The same.
 *
 * @param settings further settings of n8n
 * @param alsoClosed what ends after n8n has ended
 */
export async function startWorldWith(
	settings: Record<string, string>,
	alsoClosed: Array<() => unknown> = [],
	count = 1,
): Promise<void> {
	closers.push(...alsoClosed);
	rmSync(OUTPUT, { recursive: true, force: true });
	mkdirSync(OUTPUT, { recursive: true });
	try {
		const started = Array.from({ length: count }, async (_, i) => await start(settings, `n8n-${i + 1}.log`));
		// All of them, so that each is in `closers` if one fails.
		await Promise.allSettled(started);
		process.env['E2E_WORLDS'] = JSON.stringify(await Promise.all(started));
	} catch (error) {
		await stopWorld();
		throw error;
	}
}

/** Ends both and removes what they wrote. */
export async function stopWorld(): Promise<void> {
	for (const close of closers.splice(0).reverse()) await close();
}

async function start(more: Record<string, string>, logName: string): Promise<World> {
	const folder = mkdtempSync(join(tmpdir(), 'n8n-nodes-crm-platform-'));
	closers.push(() => rmSync(folder, { recursive: true, force: true }));
	// The n8n of a manifest, such as test/versions/n8n; by default the one that `npm start` runs.
	const installation = await installN8n(process.env['E2E_N8N']);
	const tarball = await packBuilt(join(folder, 'package'));
	await installCommunityPackage(folder, 'n8n-nodes-crm-platform', tarball);

	const sandbox = await startSandbox({
		contacts: CONTACTS,
		plan: 'enterprise',
		faults: true,
		allowPrivateWebhooks: true,
	});
	closers.push(() => sandbox.close());
	const ports = { port: await freePort(), brokerPort: await freePort() };
	// An old n8n ends where it is told to disable a module that it does not know.
	const settings = { ...more, ...(process.env['E2E_N8N'] && { N8N_DISABLED_MODULES: '' }) };
	const place = { userFolder: folder, encryptionKey: 'for one run', settings, ...ports };
	const log = join(OUTPUT, logName);
	const n8n = startN8n(installation, place, log);
	closers.push(() => n8n.stop());
	await n8n.ready;

	const owner = { email: 'owner@example.com', password: 'For-1-run-only' };
	const client = new N8nClient(n8n.url);
	await client.signIn(owner);
	return {
		n8nUrl: n8n.url,
		log,
		owner,
		session: client.session,
		sandboxUrl: sandbox.url,
		apiKey: sandbox.apiKey,
		n8nFolder: installation,
		chromium: findProgram(chromium),
	};
}
