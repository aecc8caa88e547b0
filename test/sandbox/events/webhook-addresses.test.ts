import ipaddr from 'ipaddr.js';
import dns from 'node:dns/promises';
import { isIP } from 'node:net';
import { publicAddress, post } from '../../../sandbox/api/webhooks/post.ts';
import { startReceiver } from '../harness/receiver.ts';
import { hasTried, startWebhookSandbox } from '../harness/webhook-client.ts';

afterEach(() => jest.restoreAllMocks());

/** Makes every name resolve to these addresses. */
const resolveTo = (...addresses: string[]) =>
	jest.spyOn(dns, 'lookup').mockResolvedValue(addresses.map((address) => ({ address, family: isIP(address) })) as never);

test.each([
	'127.0.0.1',
	'localhost',
	'[::1]',
	'[::ffff:127.0.0.1]',
	'192.168.1.1',
	'169.254.169.254',
	'[fe80::1]',
	'[::127.0.0.1]',
	'[2002:7f00:1::]',
	'[4000::1]',
])('%s is not public', async (host) => {
	await expect(publicAddress(host)).rejects.toThrow('does not resolve to a public address');
});

test('every address of a name must be public', async () => {
	resolveTo('93.184.215.14', '10.0.0.1');
	await expect(publicAddress('x.example')).rejects.toThrow(/^x\.example does not resolve to a public address\.$/);
	resolveTo('93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c');
	await expect(publicAddress('x.example')).resolves.toEqual({ address: '93.184.215.14', family: 4 });
});

test('an unknown name is reported', async () => {
	resolveTo();
	await expect(publicAddress('nowhere.invalid')).rejects.toThrow('The host nowhere.invalid is unknown.');
});

test('the sandbox does not deliver to internal addresses, unless it was started with the option to', async () => {
	const sandbox = await startWebhookSandbox({ allowPrivateWebhooks: false });
	const { receiver, happen, deliveries } = sandbox;
	const { port } = new URL(receiver.url);
	const urls = [receiver.url, `http://localhost:${port}/`, `http://[::ffff:127.0.0.1]:${port}/`];
	for (const url of urls) {
		const { body } = await sandbox.post('/v1/webhooks', { url, events: ['contact.created'] });
		await happen();
		const [delivery] = await deliveries(body.id, hasTried(1));
		expect(delivery.attempts[0].error).toContain('does not resolve to a public address.');
	}
	expect(receiver.received).toEqual([]);
	await sandbox.close();
});

test('the sandbox connects to the checked address: the name is looked up once', async () => {
	const receiver = await startReceiver();
	const { port } = new URL(receiver.url);
	// The name exists only here, so a second look-up would find nothing.
	const lookup = resolveTo('127.0.0.1');
	jest.spyOn(ipaddr, 'process').mockReturnValue(ipaddr.parse('93.184.215.14'));
	const signal = new AbortController().signal;
	const outcome = await post(`http://nowhere.invalid:${port}/`, '{}', {}, false, signal);
	expect(outcome).toEqual({ status: 204, error: null, retryAfter: null });
	expect(lookup).toHaveBeenCalledTimes(1);
	expect(receiver.received).toHaveLength(1);
	await receiver.close();
});
