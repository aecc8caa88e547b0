import { startLocalServer, type LocalServer } from '../../support/local-server.ts';
import { until } from '../../support/until.ts';
import { came, change, happen, sandbox, trigger } from '../../support/watched-trigger';

describe('A subscription whose address somebody changes to another one that accepts events', () => {
	let elsewhere: LocalServer;
	let accepted = 0;
	beforeEach(async () => {
		accepted = 0;
		elsewhere = await startLocalServer((_, response) => {
			accepted += 1;
			response.writeHead(200).end();
		});
		await trigger.activate();
		await change('PATCH', { url: `${elsewhere.url}/` });
		await happen('meanwhile');
		await until(() => accepted === 1);
	});
	afterEach(async () => await elsewhere.close());

	test('loses nothing: at the next look, the events sent there arrive', async () => {
		await trigger.look();
		await happen('after');
		await came('after', 'meanwhile');
		expect(trigger.warnings.join()).toContain('was changed in the CRM');
	});

	test('loses nothing when the workflow is published', async () => {
		await trigger.activate();
		await came('meanwhile');
	});

	test('loses nothing when the workflow is unpublished and published', async () => {
		await sandbox.advance(120);
		await trigger.deactivate();
		await trigger.activate();
		await came('meanwhile');
	});

	test('loses nothing when it is paused, and resumed after a look', async () => {
		await change('PATCH', { status: 'paused' });
		await trigger.look();
		expect(trigger.reported).toEqual([expect.stringContaining('paused in the CRM')]);
		await change('PATCH', { status: 'active' });
		await trigger.look();
		await came('meanwhile');
	});
});
