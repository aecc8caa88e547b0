import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startSandbox } from '../sandbox/serve.ts';
import { DatabaseVersionError } from '../sandbox/core/store/records/table.ts';
import { withBuiltPackage } from '../tools/build.ts';
import { Failure, reportFailure } from '../tools/failure.mjs';
import { takeLock } from '../tools/lock.mjs';
import { installN8n } from '../tools/n8n.mjs';
import { packPackage } from '../tools/pack.ts';
import { showProgress } from '../tools/progress.mjs';
import { isStopping, onStopSignal, stopProcess } from '../tools/stop.mjs';
import { installCommunityPackage } from './community-package.ts';
import { n8nUrl, signInCallback } from './n8n-environment.ts';
import { endOfLog, startN8n } from './n8n-process.ts';
import { helpText, parseOptions } from './options.ts';
import { freePort } from './ports.ts';
import { readState, writeState } from './state.ts';
import { welcome } from './welcome.ts';
import { fillWorkspace, oauthClientId } from './workspace.ts';

const dataFolder = resolve('.demo');
const stateFile = join(dataFolder, 'state.json');
const logFile = join(dataFolder, 'n8n.log');
const userFolder = join(dataFolder, 'n8n');
/** The lock, which is outside the data folder because --fresh deletes that. */
const lockFile = resolve('.tmp', 'demo.lock');

/** Enough contacts for several pages and a useful search. */
const sandboxContacts = 500;

async function main(): Promise<void> {
	const options = parseOptions(process.argv.slice(2));
	if (options.help) return console.log(helpText);
	lockOrFail();
	if (options.fresh) rmSync(dataFolder, { recursive: true, force: true });

	const state = readState(stateFile);
	const installation = await installN8n();
	await showProgress('Building the package', async () => {
		const tarball = await withBuiltPackage(() => packPackage(join(dataFolder, 'package')));
		await installCommunityPackage(userFolder, 'n8n-nodes-crm-platform', tarball);
	});

	state.sandboxPort = await freePort(state.sandboxPort);
	state.n8nPort = await freePort(state.n8nPort);
	writeState(stateFile, state);
	const sandbox = await startSandbox({
		port: state.sandboxPort,
		db: join(dataFolder, 'sandbox.sqlite'),
		isLively: true,
		contacts: sandboxContacts,
		apiKey: state.apiKey,
		oauthClient: {
			id: oauthClientId,
			name: 'n8n',
			redirectUri: signInCallback(state.n8nPort),
		},
		// The webhooks' receiver, n8n, is on this machine.
		allowPrivateWebhooks: true,
	}).catch(explainOtherVersion);
	onStopSignal(() => sandbox.close());
	const n8n = startN8n(
		installation,
		{
			userFolder,
			port: state.n8nPort,
			brokerPort: await freePort(),
			encryptionKey: state.encryptionKey,
		},
		logFile,
	);
	onStopSignal(() => {
		console.log('\nStopping n8n and the sandbox ...');
		return n8n.stop();
	});
	await showProgress('Starting n8n (about 20 seconds)', () => n8n.ready).catch(suggestFresh);
	const workspace = await fillWorkspace(n8n.url, sandbox.url, state, stateFile);
	console.log(welcome({ n8nUrl: n8n.url, sandboxUrl: sandbox.url, state, workspace }));

	await n8n.ended;
	throw new Failure(`n8n has ended by itself.\n${endOfLog(logFile)}`);
}

function suggestFresh(error: unknown): never {
	const reason = error instanceof Error ? error.message : String(error);
	throw new Failure(
		`${reason}\nIf the problem persists, start over without the old data: npm start -- --fresh`,
	);
}

function explainOtherVersion(error: unknown): never {
	if (!(error instanceof DatabaseVersionError)) throw error;
	throw new Failure(
		'The data in .demo was created by another version of the sandbox and was not changed. ' +
			'Start over, without that data, with: npm start -- --fresh',
	);
}

/** Takes the lock of the demo: two instances of n8n would destroy their common database. */
function lockOrFail(): void {
	const lock = takeLock(lockFile);
	if ('holder' in lock) {
		throw new Failure(
			`npm start is running already (process ${lock.holder}). ` +
				`n8n is at ${n8nUrl(readState(stateFile).n8nPort)} unless it is still starting; ` +
				'stop it with Ctrl-C in its own terminal before you start it here.',
		);
	}
	onStopSignal(() => {
		lock.release();
		// Ctrl-C is how the demo ends, not an error that npm should report.
		process.exitCode ??= 0;
	});
}

main().catch(async (error) => {
	if (isStopping()) return;
	reportFailure(error);
	await stopProcess(1);
});
