import { BackgroundReader } from '../../sandbox/core/store/threads/background-reader.ts';
import { onFile } from './harness/databases.ts';

const sandbox = onFile({ contacts: 50 });
let aside: jest.SpyInstance;
beforeEach(() => void (aside = jest.spyOn(BackgroundReader.prototype, 'read')));
afterEach(() => jest.restoreAllMocks());

const runsAside = async (path: string) => {
	aside.mockClear();
	const { status } = await sandbox.get(path);
	return [status, aside.mock.calls.length > 0];
};

test.each([
	'contacts?sort=lifecycle_stage,name',
	'contacts?sort=name,-id',
	'contacts?company_id=com_1',
	'contacts?company_id=com_1&sort=-name',
	'contacts?email=a@x.example&job_title[contains]=zz',
	'contacts?email=a@x.example&q=zz',
	'contacts?email=a@x.example&include_deleted=true',
	'contacts?phone=%2B34915550142',
	'deals?pipeline_id=pip_1',
	'deals?stage_id=stg_1',
	'deals?owner_id=usr_1',
	'messages?status=delivered',
	'webhooks?status=active',
	'jobs?status=completed',
	'users?role=member',
	'custom-fields?key=vip',
	'contacts?updated_since=2020-01-01T00:00:00Z',
])('%s may read every record, and runs beside other requests', async (path) => {
	expect(await runsAside(`/v1/${path}`)).toEqual([200, true]);
});

test.each([
	'contacts',
	'contacts?sort=-name',
	'contacts?sort=-id',
	'contacts?sort=updated_at,id&include_deleted=true',
	'contacts?email=a@x.example,b@x.example&sort=lifecycle_stage,name',
	'contacts?ids=con_1,con_2',
	'companies?domain=x.example',
])('%s reads a page from an index immediately', async (path) => {
	expect(await runsAside(`/v1/${path}`)).toEqual([200, false]);
});

test('a list after thousands of deletions runs beside other requests', async () => {
	const table = sandbox.store.table('tags')!;
	const { body: tag } = await sandbox.post('/v1/tags', { name: 'gone' });
	sandbox.store.transaction(() => {
		for (let i = 0; i < 2001; i++) table.save({ ...tag, id: `tag_0${i}`, name: `gone ${i}`, deleted_at: tag.updated_at });
	});
	expect(await runsAside('/v1/tags')).toEqual([200, true]);
	expect(await runsAside('/v1/tags?include_deleted=true')).toEqual([200, false]);
});
