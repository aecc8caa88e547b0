import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installCommunityPackage } from '../../../demo/community-package.ts';
import { n8nEnvironment, n8nUrl } from '../../../demo/n8n-environment.ts';
import { freePort } from '../../../demo/ports.ts';
import { startSandbox } from '../../../sandbox/serve.ts';
import { Failure } from '../../../tools/failure.mjs';
import { packPackage } from '../../../tools/pack.ts';
import { onStopSignal } from '../../../tools/stop.mjs';
import type { Step } from '../../support/run-steps.ts';
import { useNode } from './use-node.ts';

const imageName = 'docker.n8n.io/n8nio/n8n';
const startTimeoutMs = 180_000;

/** Runs a workflow in n8n's Docker image: how n8n 3 is published, which npm does not have. */
export const docker = (tag: string): Step => ({
	name: `docker ${tag}`,
	needs: ['build'],
	async run() {
		if (spawnSync('docker', ['version'], { stdio: 'ignore' }).status !== 0) {
			throw new Failure('Docker is not installed here, or its service does not run.');
		}
		const folder = mkdtempSync(join(tmpdir(), 'n8n-docker-'));
		const sandbox = await startSandbox({ contacts: 50 });
		const name = `n8n-nodes-crm-platform-${process.pid}`;
		const remove = () => void spawnSync('docker', ['rm', '--force', name], { stdio: 'ignore' });
		const forget = onStopSignal(remove);
		try {
			const tarball = await packPackage(join(folder, 'package'));
			await installCommunityPackage(folder, 'n8n-nodes-crm-platform', tarball);
			const port = await freePort();
			startContainer(name, `${imageName}:${tag}`, folder, port, await freePort());
			await whenReady(n8nUrl(port), name);
			await useNode(n8nUrl(port), sandbox);
			return { ok: true };
		} finally {
			remove();
			forget();
			await sandbox.close();
			rmSync(folder, { recursive: true, force: true });
		}
	},
});

function startContainer(name: string, image: string, folder: string, port: number, brokerPort: number): void {
	const place = {
		userFolder: '/home/node',
		port,
		brokerPort,
		encryptionKey: 'for one run',
		// From n8n 3 on, a package that is not verified is loaded only if the administrator allows it.
		settings: { N8N_UNVERIFIED_PACKAGES_ENABLED: 'true' },
	};
	const settings = Object.entries(n8nEnvironment(place, {})).filter(([key]) => key !== 'PATH');
	execFileSync(
		'docker',
		[
			...['run', '--detach', '--name', name],
			// The sandbox listens on this machine only.
			...['--network', 'host', '--user', `${process.getuid?.() ?? 1000}`],
			...['--volume', `${join(folder, '.n8n')}:/home/node/.n8n`],
			...settings.flatMap(([key, value]) => ['--env', `${key}=${value}`]),
			image,
		],
		{ stdio: 'inherit' },
	);
}

async function whenReady(url: string, name: string): Promise<void> {
	const deadline = Date.now() + startTimeoutMs;
	while (Date.now() < deadline) {
		const response = await fetch(`${url}/healthz/readiness`).catch(() => undefined);
		if (response?.ok) return;
		await sleep(500);
	}
	spawnSync('docker', ['logs', '--tail', '50', name], { stdio: 'inherit' });
	throw new Failure(`${name} did not start within three minutes; its log is above.`);
}
