import { withNodeFirst } from '../tools/environment.mjs';

export interface N8nPlace {
	/** The folder in which n8n stores its database, key and community packages, below `.n8n`. */
	userFolder: string;
	port: number;
	/** The port of the task broker, which runs the JavaScript of Code nodes; only n8n itself uses it. */
	brokerPort: number;
	encryptionKey: string;
	/** Further settings, by n8n's names. They override ours. */
	settings?: Record<string, string>;
}

/** Settings of a user's own n8n on this machine, which must not leak into ours. */
const n8nSettings =
	/^(N8N|DB|EXECUTIONS|QUEUE|GENERIC|NODES|CREDENTIALS|WORKFLOWS|WEBHOOK|CODE|E2E)_/;

/** Settings that npm passes to the processes it starts; n8n must not inherit them. */
const npmSettings = /^(npm_|INIT_CWD$|NODE_OPTIONS$)/i;

/**
 * The environment of an n8n that is reachable from this machine only and makes no calls to others.
 *
 * @param env the environment to start from
 */
export function n8nEnvironment(place: N8nPlace, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
	const url = n8nUrl(place.port);
	const noProxy = [env['NO_PROXY'], '127.0.0.1', 'localhost'].filter(Boolean).join(',');
	const inherited = Object.entries(withNodeFirst(env, process.execPath)).filter(
		([name]) => !n8nSettings.test(name) && !npmSettings.test(name),
	);
	return {
		...Object.fromEntries(inherited),
		NODE_ENV: 'production',
		// The sandbox is on this machine: a company's proxy would not find it.
		NO_PROXY: noProxy,
		no_proxy: noProxy,
		GENERIC_TIMEZONE: Intl.DateTimeFormat().resolvedOptions().timeZone,
		N8N_USER_FOLDER: place.userFolder,
		N8N_ENCRYPTION_KEY: place.encryptionKey,
		N8N_HOST: '127.0.0.1',
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_PORT: String(place.port),
		N8N_PROTOCOL: 'http',
		N8N_EDITOR_BASE_URL: url,
		N8N_WEBHOOK_URL: url,
		N8N_SECURE_COOKIE: 'false',
		N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
		N8N_RUNNERS_BROKER_PORT: String(place.brokerPort),
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_PERSONALIZATION_ENABLED: 'false',
		N8N_VERIFIED_PACKAGES_ENABLED: 'false',
		N8N_DISABLED_MODULES: 'mcp-registry',
		...place.settings,
	};
}

/** The address to which a service redirects users after they have signed in to it. */
export function signInCallback(port: number): string {
	return `${n8nUrl(port)}/rest/oauth2-credential/callback`;
}

/** The address of an n8n on this machine, without a trailing slash. */
export function n8nUrl(port: number): string {
	return `http://127.0.0.1:${port}`;
}
