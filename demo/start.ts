import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startSandbox } from '../sandbox/serve.ts';
import { OfAnotherVersion } from '../sandbox/core/store/records/table.ts';
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
import { HELP, parseOptions } from './options.ts';
import { freePort } from './ports.ts';
import { readState, writeState } from './state.ts';
import { welcome } from './welcome.ts';
import { fillWorkspace, OAUTH_CLIENT_ID } from './workspace.ts';

const DATA = resolve('.demo');
const STATE = join(DATA, 'state.json');
const LOG = join(DATA, 'n8n.log');
const USER_FOLDER = join(DATA, 'n8n');
/** Beside the data, which --fresh deletes. */
const LOCK = resolve('.tmp', 'demo.lock');

/** Enough for several pages and a useful search. */
const SANDBOX_CONTACTS = 500;

async function main(): Promise<void> {
	const options = parseOptions(process.argv.slice(2));
	if (options.help) return console.log(HELP);
	lockOrFail();
	if (options.fresh) rmSync(DATA, { recursive: true, force: true });

	const state = readState(STATE);
	const installation = await installN8n();
	await showProgress('Building the package', async () => {
		const tarball = await withBuiltPackage(() => packPackage(join(DATA, 'package')));
		await installCommunityPackage(USER_FOLDER, 'n8n-nodes-crm-platform', tarball);
	});

	state.sandboxPort = await freePort(state.sandboxPort);
	state.n8nPort = await freePort(state.n8nPort);
	writeState(STATE, state);
	const sandbox = await startSandbox({
		port: state.sandboxPort,
		db: join(DATA, 'sandbox.sqlite'),
		isLively: true,
		contacts: SANDBOX_CONTACTS,
		apiKey: state.apiKey,
		oauthClient: {
			id: OAUTH_CLIENT_ID,
			name: 'n8n',
			redirectUri: signInCallback(state.n8nPort),
		},
		// n8n listens on this machine.
		allowPrivateWebhooks: true,
	}).catch(explainOtherVersion);
	onStopSignal(() => sandbox.close());
	const n8n = startN8n(
		installation,
		{
			userFolder: USER_FOLDER,
			port: state.n8nPort,
			brokerPort: await freePort(),
			encryptionKey: state.encryptionKey,
		},
		LOG,
	);
	onStopSignal(() => {
		console.log('\nStopping n8n and the sandbox ...');
		return n8n.stop();
	});
	await showProgress('Starting n8n (about 20 seconds)', () => n8n.ready).catch(suggestFresh);
	const workspace = await fillWorkspace(n8n.url, sandbox.url, state, STATE);
	console.log(welcome({ n8nUrl: n8n.url, sandboxUrl: sandbox.url, state, workspace }));

	await n8n.ended;
	throw new Failure(`n8n has ended by itself.\n${endOfLog(LOG)}`);
}

function suggestFresh(error: unknown): never {
	const reason = error instanceof Error ? error.message : String(error);
	throw new Failure(
		`${reason}\nIf it stays so: npm start -- --fresh starts over, without the data of the last time.`,
	);
}

function explainOtherVersion(error: unknown): never {
	if (!(error instanceof OfAnotherVersion)) throw error;
	throw new Failure(
		'The data in .demo was made by another version of the sandbox, and was left as it is. ' +
			'Start over, without that data, with: npm start -- --fresh',
	);
}

/** Two instances of n8n on one database destroy it. */
function lockOrFail(): void {
	const lock = takeLock(LOCK);
	if ('holder' in lock) {
		throw new Failure(
			`npm start is running already (process ${lock.holder}). ` +
				`n8n is at ${n8nUrl(readState(STATE).n8nPort)} unless it is still starting; ` +
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
