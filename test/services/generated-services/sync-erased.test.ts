import type { IDataObject } from 'n8n-workflow';

import { runSync, syncOf, syncIn } from '../../support/sync-node.ts';
import { plainDialect, type SyncDialect } from './sync-document.ts';
import { useSyncServices } from './sync-service.ts';

const patching: SyncDialect = { ...plainDialect, batch: { maximum: 100, takesVersion: true, results: 'all' } };

const openService = useSyncServices();

/** Three contacts of a service, and a sync of their names. */
function contacts(dialect: Partial<SyncDialect>) {
	const { service, url } = openService({ ...patching, ...dialect });
	for (const key of ['a', 'b', 'c']) service.add({ external_id: key, last_name: 'Ada', note: `note of ${key}` });
	const items = ['a', 'b', 'c'].map((key): IDataObject => ({ external_id: key, last_name: 'King' }));
	const run = async (more: IDataObject = {}) =>
		await runSync({ credential: { baseUrl: url, apiKey: url }, credentialId: url, items, parameters: syncOf('contact', more) });
	const namesAndNotes = () => [...service.records.values()].map(({ last_name: name, note }) => [name, note]);
	return { service, run, namesAndNotes };
}

test.each(['field', 'etag'] as const)('where an update replaces the record, it keeps the other values (version: %s)', async (versions) => {
	const { run, namesAndNotes, service } = contacts({ update: 'put', versions });
	expect((await run()).updated).toHaveLength(3);
	expect(namesAndNotes()).toEqual([['King', 'note of a'], ['King', 'note of b'], ['King', 'note of c']]);
	service.begin();
	expect((await run()).unchanged).toHaveLength(3);
	expect(service.writes).toEqual([]);
});

test('a service that replaces whole records and has no versions is not written to', async () => {
	const { run, namesAndNotes } = contacts({ update: 'put', versions: 'none' });
	await expect(run()).rejects.toThrow('replaces whole records');
	expect(namesAndNotes()).toEqual([['Ada', 'note of a'], ['Ada', 'note of b'], ['Ada', 'note of c']]);
});

test.each(['put', 'patch'] as const)('an edit before any of the requests is never overwritten (%s)', async (update) => {
	for (let at = 0; at < 12; at++) {
		const { run, service } = contacts({ update, batch: undefined });
		let isEdited = false;
		service.begin((request) => void (request === at && (isEdited = service.edit('con_2', { last_name: 'by somebody else' }))));
		const { updated, conflict } = await run();
		if (!isEdited) break;
		const name = service.records.get('con_2')!.last_name;
		const report = [...updated, ...conflict].map((item) => JSON.stringify(syncIn(item))).join();
		expect(name === 'by somebody else' || report.includes('by somebody else')).toBe(true);
		expect([...service.records.values()].map(({ note }) => note)).toEqual(['note of a', 'note of b', 'note of c']);
	}
});

test('an item missing from the results of a batch is reported, and does not count as written', async () => {
	const { run, namesAndNotes } = contacts({ batch: { maximum: 100, takesVersion: true, results: 'fewer' } });
	await expect(run()).rejects.toThrow('no result for this record');
	expect(namesAndNotes().filter(([name]) => name === 'King')).toHaveLength(3);
});

test('the node warns if nothing protects an edit', async () => {
	const { run } = contacts({ versions: 'none', takesIfMatch: false, batch: undefined });
	expect((await run()).hints.join()).toContain('can be overwritten');
});
