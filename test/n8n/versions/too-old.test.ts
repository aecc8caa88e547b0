import { CrmPlatform } from '../../../nodes/CrmPlatform/CrmPlatform.node';
import { testCredential } from '../../../nodes/CrmPlatform/pickers/testCredential';
import { run } from '../../support/node-runs.ts';
import { getMany } from '../../support/parameters.ts';

/** Run in an n8n-core older than the oldest that is supported. */
const credential = { baseUrl: 'http://127.0.0.1:1', apiKey: 'key' };
const words = 'they need n8n 2.20 or newer';

test('the node loads, so that it can report what is wrong', () => {
	expect(new CrmPlatform().description.name).toBe('crmPlatform');
});

test('an execution fails before anything is sent, and its error says what to do', async () => {
	await expect(run({ credential, parameters: getMany('contact') })).rejects.toThrow(words);
});

test('the test of a credential reports that n8n is too old', async () => {
	const request = jest.fn();
	const answer = await testCredential.call({ helpers: { request } } as never, { data: credential } as never);
	expect(answer).toMatchObject({ status: 'Error', message: expect.stringContaining(words) });
	expect(request).not.toHaveBeenCalled();
});
