import { inProcess, type Json } from '../harness/in-process.ts';
import { ended, people, startJob } from '../harness/job-client.ts';

test('five jobs run at a time, in turn; the others wait and run later', async () => {
	const sandbox = inProcess();
	const started: Json[] = [];
	for (let i = 0; i < 7; i++) {
		const operation = 'upsert&match_on=external_id';
		started.push((await startJob(sandbox, operation, people(1000))).body);
	}
	const count = async (status: string) =>
		(await sandbox.get(`/v1/jobs?status=${status}`)).body.total as number;
	let maxProcessing = 0;
	while ((await count('completed')) < 7) {
		maxProcessing = Math.max(maxProcessing, await count('processing'));
		await new Promise((resolve) => setImmediate(resolve));
	}
	expect(maxProcessing).toBe(5);
	const { body } = await sandbox.get('/v1/jobs?sort=id');
	expect(body.data.map(({ id }: Json) => id)).toEqual(started.map(({ id }) => id));
	// A step lasts some milliseconds, so the speed of the machine decides which of the five ends first.
	const [firstEnd] = body.data.map(({ finished_at }: Json) => finished_at).sort();
	for (const { started_at } of body.data.slice(5)) expect(started_at >= firstEnd).toBe(true);
	expect(await sandbox.all('/v1/contacts?limit=500')).toHaveLength(1000);
});

test('an internal error ends the job; earlier lines have their results', async () => {
	const sandbox = inProcess();
	const table = sandbox.store.table('contacts')!;
	const add = table.add.bind(table);
	jest.spyOn(table, 'add').mockImplementation((record) => {
		if (record['external_id'] === '160') throw new Error('The disk is full');
		add(record);
	});
	const log = jest.spyOn(console, 'error').mockImplementation();
	const { body } = await startJob(sandbox, 'create', people(200));
	const job = await ended(sandbox, body.id);
	log.mockRestore();
	expect(job).toMatchObject({ status: 'failed', error: expect.stringContaining('The service failed.') });
	const { body: results } = await sandbox.get(`/v1/jobs/${job.id}/results`);
	expect(results).toHaveLength(job.processed);
	expect(await sandbox.all('/v1/contacts?limit=500')).toHaveLength(job.processed);
	expect(sandbox.store.jobLines.page(job.id, -1, 1)).toEqual([]);
});
