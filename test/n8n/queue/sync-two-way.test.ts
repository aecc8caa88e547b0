import { randomBytes } from 'node:crypto';
import { sandboxCredential, theN8n } from '../harness/access.ts';
import { EditedContacts } from '../harness/edited-contacts.ts';
import { serviceCaller } from '../harness/killable-n8n.ts';
import { expectInStep, twoWayExample } from '../harness/two-way.ts';
import { describeInQueueMode, doneByWorkers, theQueue } from './harness/queue-access.ts';
import { EditedPostgres } from './harness/edited-postgres.ts';
import { inPostgres } from './harness/in-postgres.ts';
import { databaseUser } from './harness/postgres.ts';

// SYNC_EDITS=1000 npx jest --config test/n8n/queue/jest.config.cjs sync-two-way
const edits = Number(process.env['SYNC_EDITS'] ?? 30);
const seed = Number(process.env['SYNC_SEED'] ?? 7);

describeInQueueMode('In queue mode', () => {
	test(`a PostgreSQL table and the CRM become equal after ${edits} edits of each, and n8n writes nothing else`, async () => {
		const n8n = theN8n();
		const { sandboxUrl: url, apiKey, postgresPort } = theQueue();
		const name = `people_${randomBytes(4).toString('hex')}`;
		const domain = `${name.replace('_', '-')}.example`;
		const crm = new EditedContacts(serviceCaller({ url, apiKey }), domain);
		const table = new EditedPostgres(postgresPort, name);
		await table.create();

		const postgresId = await n8n.createCredential({
			name: 'PostgreSQL',
			type: 'postgres',
			data: {
				host: '127.0.0.1',
				port: postgresPort,
				database: 'postgres',
				user: databaseUser,
				password: 'none is asked for',
				ssl: 'disable',
			},
		});
		const credential = sandboxCredential();
		const id = await n8n.createCredential(credential);
		const example = twoWayExample(name, { ...credential, id });
		const workflowId = await n8n.createWorkflow(inPostgres(example, name, postgresId));
		await n8n.activateWorkflow(workflowId);

		await expectInStep({ n8n, workflowId, crm, other: table, domain, edits, seed });

		expect(await n8n.listExecutions(workflowId, ['error', 'crashed'])).toEqual([]);
		for (const done of await doneByWorkers(await n8n.listExecutions(workflowId))) expect(done).not.toEqual([]);
	}, 3_600_000);
});
