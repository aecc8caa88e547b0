import { NodeOperationError, type IAllExecuteFunctions, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

import { sha256 } from '../base/digest';
import { withoutMembers } from '../base/ownMembers';
import { apiKeyTransport, oauth2Transport, type Transport } from './http/transport';

export interface ServiceCredential {
	baseUrl: string;
	descriptionUrl?: string;
	/** Percent of the plan. */
	leaveRoom?: number | string;
}

export interface ApiCredential extends ServiceCredential {
	apiKey: string;
}

/** The credential CRM Platform OAuth2 API, with the tokens that n8n adds when the user connects it. */
type OAuth2Credential = ServiceCredential & { clientSecret?: string; oauthTokenData?: { access_token?: string } };

interface SignIn {
	credential: ServiceCredential;
	/** The key or token: requests with the same one see the same data. */
	secret: string;
	/** Equal for credentials that always see the same data: those with the same key, or one with a token, which is renewed. */
	viewer: string;
	/** A secret of the credential, if possible one that stays when the token is renewed. */
	signingKey: string;
	transport: Transport;
}

/**
 * Signs in with the credential that the node's parameter `authentication` names.
 *
 * @throws NodeOperationError if the user has not connected the OAuth2 credential, or if items have several accounts
 */
export async function signIn(n8n: IAllExecuteFunctions): Promise<SignIn> {
	const isOAuth2 = n8n.getNode().parameters.authentication === 'oAuth2';
	const result = isOAuth2 ? await withOAuth2(n8n) : await withApiKey(n8n);
	await refuseSeveralAccounts(n8n, isOAuth2 ? consentType : keyType);
	return result;
}

const keyType = 'crmPlatformApi';
const consentType = 'crmPlatformOAuth2Api';

export const viewerOfKey = (apiKey: string): string => sha256(apiKey, 'base64url');

async function withApiKey(n8n: IAllExecuteFunctions): Promise<SignIn> {
	const credential = await n8n.getCredentials<ApiCredential>(keyType);
	const { apiKey: secret } = credential;
	const transport = apiKeyTransport(n8n, keyType, { id: '', name: '', type: keyType, data: { ...credential } });
	return { credential, secret, viewer: viewerOfKey(secret), signingKey: secret, transport };
}

async function withOAuth2(n8n: IAllExecuteFunctions): Promise<SignIn> {
	const credential = await n8n.getCredentials<OAuth2Credential>(consentType);
	const secret = credential.oauthTokenData?.access_token;
	if (!secret) {
		throw new NodeOperationError(n8n.getNode(), 'The credential is not connected yet', {
			description: 'Open the credential, click Connect and sign in.',
		});
	}
	// A new token does not change the id of the credential.
	const viewer = `${consentType} ${n8n.getNode().credentials?.[consentType]?.id ?? ''}`;
	const signingKey = credential.clientSecret || secret;
	return { credential, secret, viewer, signingKey, transport: oauth2Transport(n8n, consentType) };
}

/** Number of items that are always compared. Not all are, since n8n decrypts the credential again for each item. */
const alwaysCompared = 20;

/** @throws NodeOperationError if expressions select several accounts: all requests are signed with the account of the first item */
async function refuseSeveralAccounts(n8n: IAllExecuteFunctions, type: string): Promise<void> {
	if (!('getInputData' in n8n)) return;
	const { length } = n8n.getInputData() as unknown[];
	if (length < 2) return;
	const accountFor = async (item: number) => await accountOf(n8n as IExecuteFunctions, type, item);
	const first = await accountFor(0);
	// Beyond the last item, an expression that depends on the item fails or returns something else.
	const isFixed = (await accountFor(length)) === first;
	const compared = isFixed ? Math.min(length, alwaysCompared) : length;
	for (let item = 1; item < compared; item += 1) {
		if ((await accountFor(item)) === first) continue;
		const message = `The credential selects a different account for item ${item} than for item 0, so nothing was sent`;
		throw new NodeOperationError(n8n.getNode(), message, { description: oneAccount, itemIndex: item });
	}
}

const oneAccount =
	'Its fields are expressions, but one run of the node can only use one account. ' +
	'Run the node once per account, for example with Loop Over Items.';

/** The fields that the user fills in, without the token, which may be renewed at any time; undefined if they are unreadable. */
async function accountOf(n8n: IExecuteFunctions, type: string, item: number): Promise<string | undefined> {
	const reading = n8n.getCredentials<IDataObject>(type, item);
	return await reading.then((fields) => JSON.stringify(withoutMembers(fields, 'oauthTokenData')), () => undefined);
}
