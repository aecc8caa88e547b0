import type { Json } from '../../sandbox/harness/in-process.ts';
import { startKillable } from '../../sandbox/harness/killable-sandbox.ts';
import { useFolder } from '../../support/temporary-folder.ts';

const inFolder = useFolder();

const writers = 8;
const rounds = 10;
const batchSize = 3;
/** The numbers of answered requests after which the process is killed, in the middle of the work. */
const killedAfter = [60, 130];

test('each acknowledged write exists once, though the process is killed and clients retry', async () => {
	const sandbox = startKillable(inFolder('sandbox.db'));
	const acknowledged: Json[] = [];
	let responseCount = 0;
	const kills: Array<Promise<void>> = [];

	const write = async (method: string, path: string, body: unknown, key: string, expected: number) => {
		const response = await sandbox.send(method, path, body, key);
		expect(response).toMatchObject({ status: expected });
		responseCount += 1;
		// The other writers are in the midst of their requests.
		if (killedAfter.includes(responseCount)) kills.push(sandbox.kill());
		return response.body;
	};

	/** Names need not be unique, so the service itself does not notice a duplicate. */
	const work = async (writer: number) => {
		for (let round = 0; round < rounds; round++) {
			const name = `${writer}.${round}`;
			const contact = await write('POST', '/v1/contacts', { last_name: name }, `create ${name}`, 201);
			const change = { job_title: name };
			acknowledged.push(
				await write('PATCH', `/v1/contacts/${contact.id}`, change, `update ${name}`, 200),
			);
			const items = Array.from({ length: batchSize }, (_, i) => ({ last_name: `${name}.${i}` }));
			const batch = await write('POST', '/v1/contacts/batch/create', { items }, `batch ${name}`, 207);
			acknowledged.push(...batch.results.map(({ data }: Json) => data));
		}
	};

	await Promise.all(Array.from({ length: writers }, (_, writer) => work(writer)));
	await Promise.all(kills);
	const { body } = await sandbox.send('GET', '/v1/contacts?limit=500&sort=id', undefined);
	await sandbox.close();

	expect(kills).toHaveLength(killedAfter.length);
	expect(acknowledged).toHaveLength(writers * rounds * (1 + batchSize));
	const byId = (a: Json, b: Json) => (a.id < b.id ? -1 : 1);
	expect(body.data).toEqual(acknowledged.sort(byId));
});
