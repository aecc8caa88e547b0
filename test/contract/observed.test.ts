import { startLocalServer } from '../support/local-server.ts';
import { forward } from './forward.ts';
import { startObserved } from './observed.ts';

const finding = JSON.stringify([{ location: ['response', 'body'], message: 'is not as described' }]);

const prism = process.env['PRISM_URL'];
let closing = async (): Promise<void> => undefined;

/** Stands in for Prism: finds something in every answer, and passes a request on when `mayPass` resolves. */
async function startFindingAll(mayPass: () => Promise<void>) {
	const server = await startLocalServer((request, response) => {
		const writeHead = response.writeHead.bind(response);
		response.writeHead = ((status: number, headers: object) =>
			writeHead(status, { ...headers, 'sl-violations': finding })) as typeof writeHead;
		void mayPass().then(() => forward(request, response, String(request.headers['observed-url'])));
	});
	closing = server.close;
	process.env['PRISM_URL'] = server.url;
}

afterEach(async () => {
	await closing();
	process.env['PRISM_URL'] = prism;
});

test('an answer that does not conform to the description fails the test file', async () => {
	await startFindingAll(async () => undefined);
	const sandbox = await startObserved({ contacts: 0, faults: true });
	await fetch(`${sandbox.url}/v1/account`);
	await expect(sandbox.close()).rejects.toThrow('GET /v1/account → 401: response.body: is not as described');
});

test('requests in flight are answered before faults are set, and later ones are not checked against the contract', async () => {
	let pass = (): void => undefined;
	const passed = new Promise<void>((resolve) => void (pass = resolve));
	let arrive = (): void => undefined;
	const arrived = new Promise<void>((resolve) => void (arrive = resolve));
	await startFindingAll(async () => (arrive(), await passed));
	const sandbox = await startObserved({ contacts: 0, faults: true });
	const headers = { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' };
	const ask = async () => (await fetch(`${sandbox.url}/v1/account`, { headers })).status;
	const response = ask();
	await arrived;
	const body = JSON.stringify([{ path: '/v1/account', status: 500 }]);
	const faults = fetch(`${sandbox.url}/_sandbox/faults`, { method: 'PUT', body, headers });
	const struck = ask();
	pass();
	expect(await response).toBe(200);
	expect((await faults).status).toBe(200);
	await struck;
	expect(await ask()).toBe(500);
	await expect(sandbox.close()).rejects.toThrow(/:\nGET \/v1\/account → 200: [^\n]*$/);
});
