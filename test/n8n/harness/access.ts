import { randomUUID } from 'node:crypto';
import { type Credential, N8nClient, type Owner, type Session } from '../../../demo/n8n-client.ts';
import type { ScriptedModel } from '../../../demo/scripted-model.ts';

/** The addresses of this worker's n8n and sandbox, and how to sign in. */
export interface World {
	n8nUrl: string;
	/** n8n's log. */
	log: string;
	owner: Owner;
	session: Session;
	sandboxUrl: string;
	apiKey: string;
	/** Where n8n is installed. */
	n8nFolder: string;
	/** The browser's binary. Without one, tests that need it are skipped. */
	chromium: string | undefined;
}

/** @throws when jest was started without test/n8n/browser/jest.config.cjs */
export function theWorld(): World {
	const worlds = process.env['E2E_WORLDS'];
	if (!worlds) throw new Error('Run these tests with: npx jest --config test/n8n/browser/jest.config.cjs');
	return (JSON.parse(worlds) as World[])[Number(process.env['JEST_WORKER_ID']) - 1]!;
}

/** n8n's REST interface, signed in as the owner. */
export function theN8n(): N8nClient {
	const { n8nUrl, session } = theWorld();
	return new N8nClient(n8nUrl, session);
}

/** A credential for the sandbox, with some of its values changed. */
export function sandboxCredential(changed: Record<string, string> = {}): Credential {
	const { sandboxUrl, apiKey } = theWorld();
	return {
		name: `Sandbox ${randomUUID()}`,
		type: 'crmPlatformApi',
		data: { baseUrl: sandboxUrl, apiKey, descriptionUrl: '', ...changed },
	};
}

/** The credentials of our nodes: a new one for the sandbox, with some of its values changed. */
export const ofSandbox = async (changed?: Record<string, string>) => ({
	crmPlatformApi: { id: await theN8n().createCredential(sandboxCredential(changed)), name: 'Sandbox' },
});

/** The credential of n8n's OpenAI model node; the node then calls a scripted model. */
export async function ofModel({ url }: ScriptedModel) {
	const credential = { name: `Model ${randomUUID()}`, type: 'openAiApi', data: { apiKey: 'any', url } };
	return { openAiApi: { id: await theN8n().createCredential(credential), name: credential.name } };
}
