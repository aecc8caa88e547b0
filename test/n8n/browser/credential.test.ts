import { createServer } from 'node:http';
import { freePort } from '../../../demo/ports.ts';
import { listen } from '../../support/listen.ts';
import { sandboxCredential, theN8n, theWorld } from '../harness/access.ts';

describe('Testing the credential in a real n8n', () => {
	const n8n = theN8n();

	const tryOut = async (changed: Record<string, string>) => await n8n.testCredential(sandboxCredential(changed));

	test.each(['', '/', '/v1', '/v1/'])('works with %j after the base URL', async (ending) => {
		const { status } = await tryOut({ baseUrl: theWorld().sandboxUrl + ending });

		expect(status).toBe('OK');
	});

	test('reports that the key is wrong', async () => {
		const { status, message } = await tryOut({ apiKey: 'wrong' });

		expect(status).toBe('Error');
		expect(message).toMatch(/key/i);
	});

	test('reports that nothing answers at the base URL', async () => {
		const baseUrl = `http://127.0.0.1:${await freePort()}`;

		const { status, message } = await tryOut({ baseUrl });

		expect(status).toBe('Error');
		expect(message).toContain(baseUrl.replace('http://', ''));
	});

	test('reports that another site answers at the base URL', async () => {
		const site = createServer((_request, response) => response.end('<h1>Welcome</h1>'));
		const { status, message } = await tryOut({ baseUrl: await listen(site) });
		site.close();

		expect(status).toBe('Error');
		expect(message).toMatch(/base URL/i);
	});
});
