import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { CredentialTestContext } from 'n8n-core';
import type { IWorkflowExecuteAdditionalData } from 'n8n-workflow';

import { testCredential } from '../../nodes/CrmPlatform/pickers/testCredential';
import { startSecondService } from '../second-service/second-server.ts';
import { useSandbox } from './harness/sandbox.ts';

const sandbox = useSandbox();

/** Tests a credential as n8n does when the user saves it. */
async function tested(data: { baseUrl?: string; apiKey?: string; descriptionUrl?: string }) {
	const context = new CredentialTestContext({} as IWorkflowExecuteAdditionalData);
	return await testCredential.call(context, {
		id: '1',
		name: 'Test',
		type: 'crmPlatformApi',
		data: { ...sandbox.credential, descriptionUrl: '', ...data },
	});
}

/** A web server that is not this API. */
async function serving(contentType: string, body: string, status = 200) {
	const server = createServer((_, response) => {
		response.writeHead(status, { 'content-type': contentType }).end(body);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	return { url, close: () => server.close() };
}

test.each(['', '/', '/v1', '/v1/'])('the base URL works with %p at its end', async (end) => {
	const result = await tested({ baseUrl: sandbox.url + end });
	expect(result).toEqual({ status: 'OK', message: 'Connection successful!' });
});

test('one contact is read, no more', async () => {
	await tested({});
	expect(await sandbox.requests()).toMatchObject([{ path: '/v1/contacts', query: 'limit=1' }]);
});

test('a service with other names is accepted', async () => {
	const service = await startSecondService();
	expect(await tested({ baseUrl: service.url, apiKey: service.apiKey })).toMatchObject({
		status: 'OK',
	});
	await service.close();
});

describe('the user reads the cause', () => {
	const says = async (data: Parameters<typeof tested>[0], words: string) => {
		const result = await tested(data);
		expect(result.status).toBe('Error');
		expect(result.message).toContain(words);
	};

	test('when the key is wrong', async () => {
		await says({ apiKey: 'wrong' }, 'did not accept the credential');
	});

	test('when the address is invalid', async () => {
		await says({ baseUrl: 'api.example' }, 'starts with https://');
	});

	test('when the host does not exist', async () => {
		await says({ baseUrl: 'http://no-such-host.invalid' }, 'the host does not exist');
	});

	test('when nothing listens there', async () => {
		await says({ baseUrl: 'http://127.0.0.1:1' }, 'nothing is listening there');
	});

	test('when the rate limit is reached, without waiting for long', async () => {
		await sandbox.faults({ path: '/v1/contacts', status: 429, headers: { 'retry-after': '60' } });
		await says({}, 'The CRM accepts requests again at');
		await sandbox.clear();
	});

	test('when a web site is there', async () => {
		const site = await serving('text/html', '<!doctype html><title>Welcome</title>');
		await says({ baseUrl: site.url }, 'web page');
		site.close();
	});

	test('when another API is there', async () => {
		const api = await serving('application/json', '{"hello":"world"}');
		await says({ baseUrl: api.url }, 'list of records');
		api.close();
	});

	test('when the address of the description is wrong', async () => {
		await says({ descriptionUrl: `${sandbox.url}/nothing-here` }, 'could not be read');
	});
});

test('the key is sent to no host but the CRM’s', async () => {
	const seen: Array<string | undefined> = [];
	const server = createServer((request, response) => {
		seen.push(request.headers.authorization);
		response.end('{}');
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	await tested({ descriptionUrl: `http://127.0.0.1:${port}/openapi.json` });
	server.close();
	expect(seen.length).toBeGreaterThan(0);
	expect(new Set(seen)).toEqual(new Set([undefined]));
});
