import { isDeepStrictEqual } from 'node:util';
import { listExamples, readExample } from './examples.ts';
import { type Credential, N8nClient } from './n8n-client.ts';
import { N8nRequestError } from './n8n-responses.ts';
import { type State, writeState } from './state.ts';

export const ownerEmail = 'demo@crm-platform.example';

/** n8n's client ID in the sandbox; a public client, so it has no secret. */
export const oauthClientId = 'cli_n8n_demo';

const apiKeyCredentialType = 'crmPlatformApi';
const apiKeyCredentialName = 'CRM Platform (sandbox)';
const oauth2CredentialType = 'crmPlatformOAuth2Api';
export const oauth2CredentialName = 'CRM Platform (sandbox, sign in)';

/** Whether the workspace is ready, or the user has changed the owner's password. */
export type Workspace = 'ready' | 'password changed';

/**
 * Adds to a running n8n what is missing: the owner's account, the credentials for the sandbox, the
 * example workflows. Nothing that the user has changed is overwritten.
 *
 * @param state is updated and written to stateFile
 */
export async function fillWorkspace(
	n8nUrl: string,
	sandboxUrl: string,
	state: State,
	stateFile: string,
): Promise<Workspace> {
	const n8n = new N8nClient(n8nUrl);
	try {
		await n8n.signIn({ email: ownerEmail, password: state.password });
	} catch (error) {
		if (error instanceof N8nRequestError && error.status === 401) return 'password changed';
		throw error;
	}
	if (state.sandboxUrl && state.sandboxUrl !== sandboxUrl) {
		await moveCredentials(n8n, state.sandboxUrl, sandboxUrl);
	}
	// n8n's editor preselects the credential that was saved last: the key, which needs no sign-in.
	state.oauth2CredentialId = await ensureCredential(n8n, state.oauth2CredentialId, {
		name: oauth2CredentialName,
		type: oauth2CredentialType,
		data: { baseUrl: sandboxUrl, clientId: oauthClientId, access: 'readWrite' },
	});
	state.credentialId = await ensureCredential(n8n, state.credentialId, {
		name: apiKeyCredentialName,
		type: apiKeyCredentialType,
		data: { baseUrl: sandboxUrl, apiKey: state.apiKey, descriptionUrl: '' },
	});
	state.sandboxUrl = sandboxUrl;
	writeState(stateFile, state);
	const credential = { type: apiKeyCredentialType, id: state.credentialId, name: apiKeyCredentialName };
	for (const name of listExamples()) {
		if (state.importedExamples.includes(name)) continue;
		await n8n.createWorkflow(readExample(name, credential));
		state.importedExamples.push(name);
		writeState(stateFile, state);
	}
	return 'ready';
}

/** @returns the id of the existing credential, or of a new one */
async function ensureCredential(
	n8n: N8nClient,
	earlierId: string | undefined,
	credential: Credential,
): Promise<string> {
	const existing = (await n8n.listCredentials()).find(({ id }) => id === earlierId);
	return existing?.id ?? (await n8n.createCredential(credential));
}

/** Updates the credentials with the sandbox's old address, after its port has changed. */
async function moveCredentials(n8n: N8nClient, from: string, to: string): Promise<void> {
	const all = await n8n.listCredentials();
	// In the order of their creation, because n8n's editor preselects the credential that was saved last.
	const ours = [oauth2CredentialType, apiKeyCredentialType].flatMap((credentialType) =>
		all.filter(({ type }) => type === credentialType),
	);
	for (const { id } of ours) {
		const credential = await n8n.readCredential(id);
		const data = moveAddresses(credential.data, from, to);
		if (!isDeepStrictEqual(data, credential.data)) {
			await n8n.updateCredential(id, { ...credential, data });
		}
	}
}

function moveAddresses(
	data: Record<string, unknown>,
	from: string,
	to: string,
): Record<string, unknown> {
	const moved = Object.entries(data).map(([field, value]) => {
		const isThere = value === from || (typeof value === 'string' && value.startsWith(`${from}/`));
		return [field, isThere ? to + String(value).slice(from.length) : value];
	});
	return Object.fromEntries(moved) as Record<string, unknown>;
}
