import type { ICredentialsDecrypted, ICredentialTestFunctions, INodeCredentialTestResult } from 'n8n-workflow';

import { descriptionUrl } from '../api/connection';
import { describeResource } from '../api/openapi/description';
import { loadDocument } from '../api/openapi/document';
import { readPages } from '../api/lists/pages';
import { asSentence } from '../api/http/errorWords';
import { serviceAddress } from '../api/http/path';
import { secretsIn, withoutSecrets } from '../api/http/secrets';
import { systemClock } from '../base/clock';
import { createSender, type ApiRequest, type ApiResponse } from '../api/http/request';
import { equalWaits } from '../api/http/retry';
import { type ApiCredential, viewerOfKey } from '../api/signIn';
import { credentialTestTransport } from '../api/http/transport';
import { readReserve } from '../api/queueOptions';

/** Reads one contact, as the service documents for verifying credentials, and reports problems in the user's words. */
export async function testCredential(this: ICredentialTestFunctions, credential: ICredentialsDecrypted): Promise<INodeCredentialTestResult> {
	try {
		await readOneContact(this.helpers, credential.data as unknown as ApiCredential);
		return { status: 'OK', message: 'Connection successful!' };
	} catch (error) {
		const { baseUrl, descriptionUrl: url = '', apiKey } = credential.data as unknown as ApiCredential;
		const secrets = [apiKey, ...secretsIn(baseUrl), ...secretsIn(url)];
		return { status: 'Error', message: withoutSecrets((error as Error).message, secrets) };
	}
}

async function readOneContact(helpers: ICredentialTestFunctions['helpers'], credential: ApiCredential): Promise<void> {
	const address = serviceAddress(credential.baseUrl);
	readReserve(credential.leaveRoom);
	const signed = credentialTestTransport(helpers, `Bearer ${credential.apiKey}`);
	// The user is waiting in the dialog.
	const sender = createSender({ transport: signed, address, limits: { attempts: 1, ...equalWaits(5_000) }, timeout: 15_000 });
	const send = async (request: ApiRequest): Promise<ApiResponse> => {
		const result = await sender(request);
		if (result.ok) return result.response;
		const { message, description } = result.problem;
		throw new Error(`${asSentence(message)} ${description}`);
	};

	const url = descriptionUrl(credential, address);
	const location = { url, address, viewer: viewerOfKey(credential.apiKey), signed, anonymous: credentialTestTransport(helpers) };
	const { document, notice } = await loadDocument(location, systemClock);
	const list = describeResource(document, '/contacts')?.list ?? { cursor: 'cursor', filters: [] };
	await readPages(send, { path: '/contacts', list, query: {}, limit: 1 }).next();
	// The description is optional, unless the user has entered its address.
	if (notice && credential.descriptionUrl) throw new Error(notice);
}
