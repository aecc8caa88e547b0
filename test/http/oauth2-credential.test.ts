import { Workflow, type IDataObject, type INode, type INodeTypes } from 'n8n-workflow';

import { CrmPlatformOAuth2Api } from '../../credentials/CrmPlatformOAuth2Api.credentials';
import { serviceAddress } from '../../nodes/CrmPlatform/api/http/path';

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
