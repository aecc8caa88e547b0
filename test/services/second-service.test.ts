import { startSecondService } from './second-service.ts';
import { getFields } from '../../nodes/CrmPlatform/pickers/mapperFields';
import { getMatchFields, getSortOrders } from '../../nodes/CrmPlatform/pickers/listOptions';
import { searchRecords } from '../../nodes/CrmPlatform/pickers/searchPickers';
import { picker, run as runNode, type Setup } from '../support/node-runs.ts';
import { create, deleteRecord, get, getMany, update, upsert } from '../support/parameters.ts';

/**
 * A service that speaks the same API with other names, known only by its own description: the
 * connector works against it unchanged.
 */
let service: Awaited<ReturnType<typeof startSecondService>>;
beforeAll(async () => void (service = await startSecondService(600)));
afterAll(async () => await service.close());

const credential = () => ({ baseUrl: service.url, apiKey: 'second' });
const run = async (setup: Omit<Setup, 'credential'>) =>
	(await runNode({ credential: credential(), ...setup })).items.map(({ json }) => json);

test('every record is read once, in pages of the size the CRM allows', async () => {
	service.requests.length = 0;
	const records = await run({ parameters: getMany('contact') });
	expect(new Set(records.map(({ id }) => id)).size).toBe(600);
	const queries = service.requests
		.filter(({ url }) => url.pathname === '/v1/contacts')
		.map(({ url }) => Object.fromEntries(url.searchParams));
	expect(queries).toMatchObject([{ page_size: '250' }, { page_size: '250' }, { page_size: '250' }]);
	expect(queries.map((query) => 'after' in query)).toEqual([false, true, true]);
});

test('records are sorted by the orders the CRM has', async () => {
	const orders = await picker(getSortOrders, { credential: credential(), parameters: { resource: 'contact' } });
	const descending = orders.find(({ value }) => value === 'family_name.desc');
	const records = await run({ parameters: getMany('contact', { options: { sort: descending?.value } }) });
	const names = records.map((record) => String(record.family_name));
	expect(names).toEqual([...names].sort().reverse());
});

test('a record is created, found, changed and deleted under the names the CRM has', async () => {
	const fields = { given_name: 'Ada', family_name: 'Lovelace', mail: 'ada@other.example' };
	const [created] = await run({
		parameters: create('contact', { ...fields, birthday: '1815-12-10T00:00:00', score: '7', vip: 'true' }),
	});
	expect(created).toMatchObject({ ...fields, birthday: '1815-12-10', score: 7, vip: true });

	const id = String(created?.id);
	const [same] = await run({
		parameters: upsert('contact', 'mail', { mail: fields.mail, family_name: 'King' }),
	});
	expect(same).toMatchObject({ id, family_name: 'King' });

	const [changed] = await run({ parameters: update('contact', id, { vip: 'false' }) });
	expect(changed).toMatchObject({ id, vip: false, family_name: 'King' });
	expect(await run({ parameters: get('contact', id) })).toMatchObject([{ id, vip: false }]);
	expect(await run({ parameters: deleteRecord('contact', id) })).toEqual([{ deleted: true }]);
	await expect(run({ parameters: get('contact', id) })).rejects.toMatchObject({ httpCode: '404' });
});

test('the fields and what they match on come from the CRM', async () => {
	const setup = (operation: string) => ({ credential: credential(), parameters: { resource: 'contact', operation } });
	const { fields } = await picker(getFields, setup('create'));
	const byId = Object.fromEntries(fields.map((field) => [field.id, field]));
	expect(byId.family_name).toMatchObject({ displayName: expect.stringContaining('(Required'), type: 'string' });
	expect(byId.birthday).toMatchObject({ displayName: expect.not.stringContaining('(Required'), type: 'string' });
	expect(byId.segment).toMatchObject({ type: 'options' });
	expect(byId.first_name).toBeUndefined();
	const matchable = await picker(getMatchFields, setup('upsert'));
	expect(matchable.map(({ value }) => value)).toEqual(['', 'mail']);
});

test('the list to pick from is searched by the node if the CRM cannot search', async () => {
	const setup = { credential: credential(), parameters: { resource: 'contact' } };
	const { results } = await picker(searchRecords, setup, 'Record-10');
	expect(results.map(({ value }) => value)).toEqual(['record-10', 'record-100']);
});
