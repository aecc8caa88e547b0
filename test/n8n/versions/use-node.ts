import assert from 'node:assert/strict';
import { N8nClient } from '../../../demo/n8n-client.ts';
import type { Sandbox } from '../../../sandbox/serve.ts';
import { runN8nNode } from '../harness/run-n8n-node.ts';

/**
 * Uses the node in a running n8n as a new user does: signs in, tests a credential, reads and writes.
 *
 * @param url of an n8n without an owner
 * @throws AssertionError if anything comes out differently
 */
export async function useNode(url: string, sandbox: Pick<Sandbox, 'url' | 'apiKey'>): Promise<void> {
	const n8n = new N8nClient(url);
	await n8n.signIn({ email: 'owner@example.com', password: 'For-1-run-only' });
	const data = { baseUrl: sandbox.url, apiKey: sandbox.apiKey, descriptionUrl: '' };
	const credential = { name: 'Sandbox', type: 'crmPlatformApi', data };
	const { status, message } = await n8n.testCredential(credential);
	assert.equal(status, 'OK', message);

	const credentials = { crmPlatformApi: { id: await n8n.createCredential(credential), name: 'Sandbox' } };
	const list = { resource: 'contact', operation: 'getMany', returnAll: false, limit: 5 };
	const read = await runN8nNode(n8n, { credentials, parameters: list });
	assert.equal(read.status, 'success', read.error?.message);
	assert.equal(read.items.length, 5);

	const create = {
		resource: 'contact',
		operation: 'create',
		fieldsMode: 'json',
		fieldsJson: '={{ $json }}',
	};
	const input = [{ email: 'one@versions.example' }, { email: 'two@versions.example' }];
	const result = await runN8nNode(n8n, { credentials, parameters: create, input });
	assert.equal(result.status, 'success', result.error?.message);
	assert.deepEqual(result.items.map(({ json }) => json['email']), input.map(({ email }) => email));
}
