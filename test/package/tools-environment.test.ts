import { n8nEnvironment } from '../../demo/n8n-environment.ts';
import { withNodeFirst } from '../../tools/environment.mjs';

describe('A program started under another Node', () => {
	test('finds that Node first, and the rest of the path once and in order', () => {
		const path = '/usr/bin:/opt/node/bin:/bin';
		const env = withNodeFirst({ PATH: path }, '/opt/node/bin/node', 'linux');

		expect(env).toEqual({ PATH: '/opt/node/bin:/usr/bin:/bin' });
	});
});

describe("n8n's environment", () => {
	const place = { userFolder: '/data', port: 5678, brokerPort: 5679, encryptionKey: 'key' };

	test('takes over nothing that is meant for another n8n, or for npm', () => {
		const env = n8nEnvironment(place, {
			N8N_PORT: '1',
			DB_TYPE: 'postgresdb',
			EXECUTIONS_MODE: 'queue',
			npm_config_prefix: '/usr',
			LANG: 'de_DE.UTF-8',
		});

		expect(env).toMatchObject({ N8N_PORT: '5678', LANG: 'de_DE.UTF-8' });
		expect(Object.keys(env)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(DB_|EXECUTIONS_|npm_)/)]));
	});

	test('lets it listen on this machine only, and connect to nothing outside it', () => {
		const env = n8nEnvironment(place, {});

		expect(env).toMatchObject({
			N8N_LISTEN_ADDRESS: '127.0.0.1',
			N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
			N8N_DIAGNOSTICS_ENABLED: 'false',
			N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
			N8N_TEMPLATES_ENABLED: 'false',
		});
	});

	test('reaches the sandbox without a proxy', () => {
		const env = n8nEnvironment(place, { NO_PROXY: 'intra.example' });

		expect(env['NO_PROXY']).toBe('intra.example,127.0.0.1,localhost');
	});
});
