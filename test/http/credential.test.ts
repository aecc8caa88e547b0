import { CredentialTestContext } from 'n8n-core';
import { type IDataObject, type INode, type INodeTypes, type IWorkflowExecuteAdditionalData, Workflow } from 'n8n-workflow';

import { CrmPlatformOAuth2Api } from '../../credentials/CrmPlatformOAuth2Api.credentials';
import { serviceAddress } from '../../nodes/CrmPlatform/api/http/path';
import { testCredential } from '../../nodes/CrmPlatform/pickers/testCredential';
import { startLocalServer } from '../support/local-server.ts';
import { useSandbox } from '../support/sandbox.ts';

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

test('only one contact is read', async () => {
	expect(await tested({})).toEqual({ status: 'OK', message: 'Connection successful!' });
	expect(await sandbox.requests()).toMatchObject([{ path: '/v1/contacts', query: 'limit=1' }]);
});

describe('the user reads the cause', () => {
	const says = async (data: Parameters<typeof tested>[0], words: string) => {
		const result = await tested(data);
		expect(result.status).toBe('Error');
		expect(result.message).toContain(words);
	};

	test.each([
		['the key is wrong', { apiKey: 'wrong' }, 'did not accept the credential'],
		['the address is invalid', { baseUrl: 'api.example' }, 'starts with https://'],
		['the host does not exist', { baseUrl: 'http://no-such-host.invalid' }, 'the host does not exist'],
		['nothing listens there', { baseUrl: 'http://127.0.0.1:1' }, 'nothing is listening there'],
	])('when %s', async (_, data, words) => await says(data, words));

	test('when the rate limit is reached, without waiting for long', async () => {
		await sandbox.faults({ path: '/v1/contacts', status: 429, headers: { 'retry-after': '60' } });
		await says({}, 'Try again after');
		await sandbox.clear();
	});

	test.each([
		['a web site', 'text/html', '<!doctype html><title>Welcome</title>', 'web page'],
		['another API', 'application/json', '{"hello":"world"}', 'list of records'],
	])('when %s is there', async (_, contentType, body, words) => {
		const server = await startLocalServer((_request, response) => void response.writeHead(200, { 'content-type': contentType }).end(body));
		await says({ baseUrl: server.url }, words);
		await server.close();
	});

	test('when the address of the description is wrong', async () => {
		await says({ descriptionUrl: `${sandbox.url}/nothing-here` }, 'could not be read');
	});
});

test('the key is sent to no host but the CRM’s', async () => {
	const seen: Array<string | undefined> = [];
	const server = await startLocalServer((request, response) => {
		seen.push(request.headers.authorization);
		response.end('{}');
	});
	await tested({ descriptionUrl: `${server.url}/openapi.json` });
	await server.close();
	expect(seen.length).toBeGreaterThan(0);
	expect(new Set(seen)).toEqual(new Set([undefined]));
});

const { properties } = new CrmPlatformOAuth2Api();
const node = { name: 'Node', parameters: {}, typeVersion: 1 } as unknown as INode;

const workflow = new Workflow({
	nodes: [],
	connections: {},
	active: false,
	nodeTypes: { getByNameAndVersion: () => undefined } as unknown as INodeTypes,
});

/** The values of a credential, including hidden ones, as n8n computes them from what a user enters. */
function filledIn(entered: IDataObject): IDataObject {
	const defaults = properties.map(({ name, default: value }) => [name, value]);
	const values = { ...Object.fromEntries(defaults), ...entered };
	return workflow.expression.getComplexParameterValue(node, values, 'internal', {}, undefined, undefined, values) as IDataObject;
}

test.each([
	'https://api.example.com',
	'https://api.example.com/',
	' https://api.example.com/v1 ',
	'https://api.example.com/v1/',
	'https://example.com:8443/crmv1//v1//',
])('the endpoints are those of the CRM at %j', (baseUrl) => {
	expect(filledIn({ baseUrl })).toMatchObject({
		authUrl: `${serviceAddress(baseUrl)}/oauth/authorize`,
		accessTokenUrl: `${serviceAddress(baseUrl)}/oauth/token`,
	});
});

test('endpoints elsewhere are used unchanged', () => {
	const authorizationPageUrl = 'https://login.example.com/authorize?tenant=1';
	const tokenUrl = 'https://login.example.com/token';
	const values = filledIn({ baseUrl: 'https://api.example.com', authorizationPageUrl, tokenUrl });
	expect(values).toMatchObject({ authUrl: authorizationPageUrl, accessTokenUrl: tokenUrl });
});

describe('the requested scopes', () => {
	const scopes = (entered: IDataObject) =>
		String(filledIn({ baseUrl: 'https://api.example.com', ...entered }).scope).split(' ');

	test('read and write, and exclude the setup of the account, unless the user chooses otherwise', () => {
		expect(scopes({})).toEqual(expect.arrayContaining(['contacts:read', 'contacts:write']));
		expect(scopes({})).toContain('users:read');
		expect(scopes({})).not.toContain('users:write');
	});

	test('only read, if the user chooses that', () => {
		const reading = scopes({ access: 'read' });
		expect(reading).toContain('contacts:read');
		expect(reading.filter((scope) => !scope.endsWith(':read'))).toEqual([]);
	});

	test('are those that the user chooses, and others that the list does not have', () => {
		const chosen = { access: 'chosen', scopes: ['contacts:read', 'users:write'] };
		expect(scopes(chosen)).toEqual(['contacts:read', 'users:write']);
		expect(scopes({ ...chosen, moreScopes: 'invoices:read a:b' })).toEqual(['contacts:read', 'users:write', 'invoices:read', 'a:b']);
	});
});
