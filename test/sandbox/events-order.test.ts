import { errorsOf, inProcess } from './harness/in-process.ts';

/** Five events: four contacts come into being, the first is changed. */
async function withEvents() {
	const sandbox = inProcess();
	for (const email of ['a', 'b', 'c', 'd']) {
		await sandbox.post('/v1/contacts', { email: `${email}@x.example` });
	}
	const [first] = await sandbox.all('/v1/contacts');
	await sandbox.patch(`/v1/contacts/${first.id}`, { first_name: 'Ana' });
	return sandbox;
}

const sequences = (events: Array<{ sequence: number }>) => events.map(({ sequence }) => sequence);

test('the log is read in sequence, or the newest first, page by page', async () => {
	const { all } = await withEvents();
	const oldestFirst = sequences(await all('/v1/events?limit=2'));
	expect(oldestFirst).toEqual([...oldestFirst].sort((a, b) => a - b));
	expect(oldestFirst).toHaveLength(5);
	expect(sequences(await all('/v1/events?limit=2&sort=sequence'))).toEqual(oldestFirst);
	const newestFirst = sequences(await all('/v1/events?limit=2&sort=-sequence'));
	expect(newestFirst).toEqual([...oldestFirst].reverse());
});

test('an order that the log does not have is refused, and so is a cursor of another order', async () => {
	const { get } = await withEvents();
	expect(errorsOf(await get('/v1/events?sort=type'))).toEqual({ sort: 'invalid_parameter' });
	const { body } = await get('/v1/events?limit=2&sort=-sequence');
	const other = await get(`/v1/events?limit=2&cursor=${body.next_cursor}`);
	expect(errorsOf(other)).toEqual({ cursor: 'invalid_cursor' });
});
