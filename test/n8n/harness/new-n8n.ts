import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installCommunityPackage } from '../../../demo/community-package.ts';
import { N8nClient } from '../../../demo/n8n-client.ts';
import { type N8nProcess, startN8n } from '../../../demo/n8n-process.ts';
import { freePort } from '../../../demo/ports.ts';
import { startSandbox, type Sandbox } from '../../../sandbox/serve.ts';
import { withBuiltPackage } from '../../../tools/build.ts';
import { installN8n } from '../../../tools/n8n.mjs';
import { packPackage } from '../../../tools/pack.ts';
import { chromium, findProgram } from '../../support/system-program.ts';
import type { World } from './access.ts';

const owner = { email: 'owner@example.com', password: 'For-1-run-only' };

/** What an n8n of the tests needs to start. */
export interface N8nSetup {
	/** The folder to which n8n writes. */
	folder: string;
	/** The folder whose node_modules hold n8n. */
	installation: string;
	/** The package, built from the present sources. */
	tarball: string;
	sandbox: Sandbox;
}

/** @param closers end the sandbox and remove the folder */
export async function prepareN8n(closers: AsyncDisposableStack, contacts: number): Promise<N8nSetup> {
	const folder = mkdtempSync(join(tmpdir(), 'n8n-nodes-crm-platform-'));
	closers.defer(() => rmSync(folder, { recursive: true, force: true }));
	const installation = await installN8n();
	// Test files run side by side: the first builds, and the others use its build.
	const tarball = await withBuiltPackage(() => packPackage(join(folder, 'package')), true);
	const sandbox = await startSandbox({ contacts, plan: 'enterprise', faults: true, allowPrivateWebhooks: true });
	closers.defer(() => sandbox.close());
	return { folder, installation, tarball, sandbox };
}

/**
 * Installs the package into an n8n of a single process.
 *
 * @param settings further settings of n8n
 * @returns a function that starts it, also after it has ended, and writes its output to a log
 */
export async function singleProcess(
	{ folder, installation, tarball }: N8nSetup,
	settings: Record<string, string>,
): Promise<(log: string) => N8nProcess> {
	await installCommunityPackage(folder, 'n8n-nodes-crm-platform', tarball);
	const ports = { port: await freePort(), brokerPort: await freePort() };
	const place = { userFolder: folder, encryptionKey: 'for one run', settings, ...ports };
	return (log) => startN8n(installation, place, log);
}

/** Signs in to a new n8n. */
export async function signInAsOwner(n8nUrl: string): Promise<N8nClient> {
	const client = new N8nClient(n8nUrl);
	await client.setUp(owner);
	return client;
}

/** The addresses of an n8n that has just started, for tests. */
export async function worldOf({ installation, sandbox }: N8nSetup, n8nUrl: string, log: string): Promise<World> {
	const { session } = await signInAsOwner(n8nUrl);
	return {
		n8nUrl,
		log,
		owner,
		session,
		sandboxUrl: sandbox.url,
		apiKey: sandbox.apiKey,
		n8nFolder: installation,
		chromium: findProgram(chromium),
	};
}
