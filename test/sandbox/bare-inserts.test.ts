import { bareInserts } from '../../bench/bare-inserts.ts';
import { Store } from '../../sandbox/core/store/store.ts';
import { newDatabase } from './harness/databases.ts';
import { inProcess } from './harness/in-process.ts';


test.each([
	['create', 0],
	['createFromLines', 3],
] as const)('the bare loop of the benchmarks writes the same as the service: %s', async (create, results) => {
	const path = newDatabase();
	const bare = bareInserts(path, 10, 2);
	const people = ['ana', 'eva', 'ida'].map((name) => ({ last_name: 'Bareloop', email: `${name}@x.example` }));
	if (create === 'create') bare.create(people);
	else bare.createFromLines(people.map((person) => JSON.stringify(person)));
	bare.close();

	const { get, all, store } = inProcess({ store: new Store(path) });
	expect((await get('/v1/contacts?q=bareloop')).body.data).toMatchObject(people);
	const events = await all('/v1/events?type=contact.created');
	expect(events.slice(-3).map(({ data }) => data.object)).toMatchObject(people);
	expect([store.jobLines.page('job_0', -1, 9), store.jobResults.page('job_0', -1, 9).length]).toEqual([[], results]);
	store.close();
});
