import type { Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

import offered from '../contract/scopes.json';
import { baseUrl, apiDescriptionUrl, leaveRoom } from './serviceProperties';

/** Reads the base URL as `serviceAddress` of the nodes does; n8n allows only an expression here. */
const address = String.raw`$self["baseUrl"].trim().replace(/(\/+v1)?\/*$/i, "")`;

const scopes = Object.keys(offered).sort();

const reading = scopes.filter((scope) => scope.endsWith(':read'));

/** All scopes except those that change the account's setup, which users pick on purpose. */
const usual = scopes.filter(
	(scope) => !['custom-fields:write', 'custom-objects:define', 'pipelines:write', 'records:erase', 'users:write'].includes(scope),
);

const chosen = '$self["scopes"].concat($self["moreScopes"]).join(" ").trim()';

export class CrmPlatformOAuth2Api implements ICredentialType {
	name = 'crmPlatformOAuth2Api';

	extends = ['oAuth2Api'];

	displayName = 'CRM Platform OAuth2 API';

	icon: Icon = {
		light: 'file:../icons/crm-platform.svg',
		dark: 'file:../icons/crm-platform.dark.svg',
	};

	documentationUrl =
		'https://github.com/n8n-nodes-crm-platform/n8n-nodes-crm-platform/blob/main/docs/guide/credentials.md#oauth2';

	properties: INodeProperties[] = [
		{ displayName: 'Grant Type', name: 'grantType', type: 'hidden', default: 'pkce' },
		{
			displayName: 'Client Secret',
			name: 'clientSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			description: 'Leave empty for a public client',
		},
		baseUrl,
		{
			displayName: 'Access',
			name: 'access',
			type: 'options',
			options: [
				{ name: 'Choose Scopes', value: 'chosen' },
				{ name: 'Read', value: 'read', description: 'Read everything, change nothing' },
				{
					name: 'Read and Write',
					value: 'readWrite',
					description:
						'Everything except erasing records, and changing users, pipelines, custom fields and definitions of custom objects',
				},
			],
			default: 'readWrite',
			description: 'What the credential may do, within the rights of its user',
			hint: 'A change takes effect when you connect again',
		},
		{
			displayName: 'Scopes',
			name: 'scopes',
			type: 'multiOptions',
			displayOptions: { show: { access: ['chosen'] } },
			options: scopes.map((scope) => ({ name: scope, value: scope, description: offered[scope as keyof typeof offered] })),
			default: [],
		},
		{
			displayName: 'More Scopes',
			name: 'moreScopes',
			type: 'string',
			displayOptions: { show: { access: ['chosen'] } },
			default: '',
			placeholder: 'invoices:read invoices:write',
			description: 'Scopes the CRM offers that are not in the list, separated by spaces',
		},
		{
			displayName: 'Scope',
			name: 'scope',
			type: 'hidden',
			default: `={{ $self["access"] === "chosen" ? ${chosen} : $self["access"] === "read" ? "${reading.join(' ')}" : "${usual.join(' ')}" }}`,
		},
		{
			displayName: 'Authorization Page URL',
			name: 'authorizationPageUrl',
			type: 'string',
			default: '',
			placeholder: 'https://login.example.com/authorize',
			description: 'Where users sign in (authorization_endpoint of RFC 8414). Leave empty for /oauth/authorize at the base URL.',
		},
		{
			displayName: 'Token URL',
			name: 'tokenUrl',
			type: 'string',
			default: '',
			placeholder: 'https://login.example.com/token',
			description: 'Where n8n gets tokens (token_endpoint of RFC 8414). Leave empty for /oauth/token at the base URL.',
		},
		{
			displayName: 'Authorization URL',
			name: 'authUrl',
			type: 'hidden',
			default: `={{ $self["authorizationPageUrl"].trim() || ${address} + "/oauth/authorize" }}`,
		},
		{
			displayName: 'Access Token URL',
			name: 'accessTokenUrl',
			type: 'hidden',
			default: `={{ $self["tokenUrl"].trim() || ${address} + "/oauth/token" }}`,
		},
		{ displayName: 'Auth URI Query Parameters', name: 'authQueryParameters', type: 'hidden', default: '' },
		{ displayName: 'Authentication', name: 'authentication', type: 'hidden', default: 'header' },
		apiDescriptionUrl,
		leaveRoom,
	];
}
