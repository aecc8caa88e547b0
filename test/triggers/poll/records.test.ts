import type { IDataObject } from 'n8n-workflow';

import type { Query } from '../../../nodes/CrmPlatform/api/http/path';
import { fieldNamed } from '../../../nodes/CrmPlatform/fields/field';
import type { CrmEvent } from '../../../nodes/CrmPlatform/log/crmEvent';
import type { Backfill } from '../../../nodes/CrmPlatform/trigger/poll/position';
import type { RecordReader } from '../../../nodes/CrmPlatform/trigger/poll/records';
import { byId, filterRows } from '../../support/parameters.ts';
import { type Published, usePublished } from '../../support/published-workflow.ts';
import { useSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import { pageOf, readerOf, scopeOf } from './poll-model/records.ts';

const sandbox = useSandbox({ contacts: 250 });
const ofContacts = { source: 'records', resource: 'contact', simplify: false };
const { publish } = usePublished(sandbox, { ...ofContacts, grouping: 'group' });
const { publish: publishEach } = usePublished(sandbox, ofContacts);

/** The items that a reader makes of events which it reads for the third time. */
const itemsOf = async (reader: RecordReader, ...events: CrmEvent[]) =>
	(await reader.changed(events, false)).flatMap(({ item, isBehind }) => (isBehind ? ['behind'] : item ?? []));

const items = (n8n: Published) => n8n.executions.flatMap((execution) => execution.items);
const changes = (n8n: Published) => items(n8n).map(({ change }) => change);

/** The copy of the records that a workflow keeps: the last item of each. */
function copyOf(n8n: Published): Map<unknown, IDataObject> {
	const copy = new Map<unknown, IDataObject>();
	for (const { change, ...record } of items(n8n)) {
		if (change === 'deleted') copy.delete(record.id);
		else copy.set(record.id, record);
	}
	return copy;
}

async function service(query = ''): Promise<IDataObject[]> {
	return await sandbox.list(`contacts?limit=500&sort=created_at${query}`);
}

const sorted = (records: Iterable<IDataObject>) =>
	[...records].sort((a, b) => String(a.id).localeCompare(String(b.id)));

test('all records come first, in groups, then every change, deletions and erasures included', async () => {
	await sandbox.faults({ method: 'GET', path: '/v1/custom-fields', status: 403 });
	const n8n = await publish({ groupSize: 100 });
	await until(() => items(n8n).length >= 250);
	expect(n8n.warnings).toEqual([]);
	expect(n8n.executions.map((execution) => execution.items.length)).toEqual([100, 100, 50]);
	expect(new Set(changes(n8n))).toEqual(new Set(['existing']));

	const contact = await sandbox.create('contacts', { last_name: 'Moreno' });
	const path = `/v1/contacts/${contact.id}`;
	await until(() => changes(n8n).includes('created'));
	await sandbox.call('PATCH', path, { job_title: 'Buyer' });
	await until(() => changes(n8n).includes('updated'));
	expect(items(n8n).at(-1)).toMatchObject({ id: contact.id, job_title: 'Buyer', change: 'updated' });
	await sandbox.call('DELETE', path);
	await until(() => changes(n8n).includes('deleted'));
	expect(items(n8n).at(-1)).toMatchObject({ id: contact.id, change: 'deleted' });
	const [erasedRecord] = await service();
	await sandbox.call('DELETE', `/v1/contacts/${String(erasedRecord!.id)}?permanent=true`);
	await until(() => items(n8n).some(({ id, change }) => id === erasedRecord!.id && change === 'deleted'));
	expect(sorted(copyOf(n8n).values())).toEqual(sorted(await service()));
});

test('filters and output fields work as in Get Many, and a record that leaves the scope is reported', async () => {
	const inScope = await service('&lifecycle_stage=lead');
	const n8n = await publish({
		recordFilters: filterRows({ lifecycle_stage: 'lead' }),
		options: { outputFields: ['email'] },
	});
	await until(() => items(n8n).length >= inScope.length);
	expect(items(n8n)[0]).toEqual({ id: expect.any(String), email: inScope[0]!.email, change: 'existing' });
	const [recordInScope] = inScope;
	await sandbox.call('PATCH', `/v1/contacts/${String(recordInScope!.id)}`, { lifecycle_stage: 'customer' });
	await until(() => changes(n8n).includes('deleted'));
	expect(items(n8n).at(-1)).toMatchObject({ id: recordInScope!.id, change: 'deleted' });
});

test('only records linked to a picked record are in scope', async () => {
	const [company] = await sandbox.list('companies?limit=1');
	const n8n = await publish({
		recordFilters: { rows: [{ field: 'company_id', operator: 'isRecord', record: byId(company!.id) }] },
	});
	const contact = await sandbox.create('contacts', { last_name: 'Linked', company_id: company!.id });
	await sandbox.create('contacts', { last_name: 'Not linked' });
	await until(() => changes(n8n).includes('created') || items(n8n).some(({ id }) => id === contact.id));
	// n8n's log says why the other one starts nothing.
	await until(() => n8n.details.some((text) => text.endsWith('there is nothing to report about its record.')));
	const expected = await service(`&company_id=${company!.id}`);
	await until(() => copyOf(n8n).size === expected.length);
	expect(sorted(copyOf(n8n).values())).toEqual(sorted(expected));
});

test('records of a custom object come first, then their changes, and those of other objects do not', async () => {
	for (const key of ['cars', 'boats']) {
		const label = { label_singular: key, label_plural: key };
		await sandbox.create('custom-objects', { key, ...label, primary_field: 'name' });
		const field = { resource: `custom-objects/${key}/records`, key: 'name', label: 'Name', type: 'text' };
		await sandbox.create('custom-fields', field);
	}
	const create = async (key: string, name: string) => await sandbox.create(`custom-objects/${key}/records`, { custom_fields: { name } });
	const first = await create('cars', 'M-AB 1');
	const n8n = await publish({ resource: 'customObjectRecord', objectKey: byId('cars') });
	await until(() => items(n8n).length > 0);
	await create('boats', 'Altamira');
	const second = await create('cars', 'M-AB 2');
	await until(() => items(n8n).length > 1);
	await sandbox.call('DELETE', `/v1/custom-objects/cars/records/${first.id}`);
	await until(() => changes(n8n).includes('deleted'));
	expect(items(n8n)).toMatchObject([
		{ id: first.id, title: 'M-AB 1', change: 'existing' },
		{ id: second.id, title: 'M-AB 2', change: 'created' },
		{ id: first.id, change: 'deleted' },
	]);
});

test.each([
	['without a custom object', { resource: 'customObjectRecord' }, 'Pick a record from the list'],
	['by a filter that no record shows to match', { recordFilters: filterRows({ q: 'ada' }) }, 'the filter “Search”'],
	['with deleted records', { recordFilters: filterRows({ include_deleted: 'true' }) }, 'takes no filter “Include Deleted”'],
])('publishing %s fails with an explanation', async (_, parameters, message) => {
	await expect(publish(parameters)).rejects.toThrow(message);
});

test('a test by hand shows the newest records', async () => {
	const n8n = await publish({});
	await n8n.deactivate();
	const testItems = await n8n.test();
	const newest = (await service()).slice(-5).map((record) => ({ ...record, change: 'existing' }));
	expect(testItems).toEqual(newest);
});

test('with rows joined by Or, each record in scope comes once, in order, even if a batch fills pages', async () => {
	const batch = Array.from({ length: 100 }, (_, i) => ({ last_name: `Or ${i}`, language: 'fi', lifecycle_stage: i < 50 ? 'lead' : null }));
	await sandbox.call('POST', '/v1/contacts/batch/create', { items: batch });
	const inScope = [...await service('&language=fi'), ...await service('&lifecycle_stage=lead')];
	const isLead = { field: 'lifecycle_stage', operator: 'is', value: 'lead' };
	const n8n = await publish({ recordFilters: { rows: [{ field: 'language', operator: 'is', value: 'fi' }, { ...isLead, join: 'or' }] } });
	const ids = new Set(inScope.map(({ id }) => id));
	await until(() => items(n8n).length >= ids.size);
	expect(new Set(items(n8n).map(({ id }) => id))).toEqual(ids);
	expect(items(n8n)).toHaveLength(ids.size);
	const times = items(n8n).map(({ created_at }) => String(created_at));
	expect(times).toEqual([...times].sort());
	const other = await sandbox.create('contacts', { last_name: 'Or', language: 'fi' });
	await until(() => items(n8n).at(-1)?.id === other.id);
	await sandbox.call('PATCH', `/v1/contacts/${other.id}`, { language: 'sv' });
	await until(() => changes(n8n).includes('deleted'));
});

test('a record that was deleted before the event of its creation was read is reported once', async () => {
	const reader = readerOf(scopeOf('lead'), (query) => pageOf([], query));
	const object = { id: '1', stage: 'lead' };
	const event = (type: string) => ({ id: type, type, data: { object, previous: null, changed: [] } }) as unknown as CrmEvent;
	const reported = [...await itemsOf(reader, event('p.created')), ...await itemsOf(reader, event('p.deleted'))];
	expect(reported).toEqual([{ ...object, change: 'deleted' }]);
});

test.each([
	['exists is behind', { stage: 'lead' }, ['behind']],
	['is older than its event is behind', { stage: 'customer', updated_at: '2026-01-01T00:00:00Z' }, ['behind']],
	['has left the scope since is left out', { stage: 'customer' }, []],
	['is another one, which has its address now, is left out', { id: '3', stage: 'lead' }, []],
])('a record that the list omits and that, read by its ID, %s', async (_, more, expected) => {
	const object = { id: '1', created_at: '', updated_at: '2026-01-02T00:00:00Z', revision: 0, stage: 'lead' };
	const reader = readerOf(scopeOf('lead'), (query) => pageOf('stage' in query ? [] : [{ ...object, ...more }], { ...query, ids: [] }));
	const event = (id: string, type: string) =>
		({ id, type, data: { object: { ...object, id }, previous: null, changed: [] } }) as unknown as CrmEvent;
	const deleted = { ...object, id: '2', change: 'deleted' };
	expect(await itemsOf(reader, event('1', 'p.created'), event('2', 'p.deleted'))).toEqual([...expected, deleted]);
});

test('records of several lists that were created in one millisecond come once each, although the CRM keeps microseconds', async () => {
	const people = (stage: string, ...microseconds: string[]) => microseconds.map((fraction) =>
		({ id: `${stage} ${fraction}`, stage, created_at: `2026-01-01T00:00:00.${fraction}Z`, updated_at: '', revision: 0 }));
	const records = [...people('lead', '000100', '000200', '000300', '000400'), ...people('customer', '000050', '000900', '001000')];
	const exactly = (time: unknown) => typeof time === 'string' ? time.replace(/(\.\d{3})Z/, '$1000Z') : '';
	const [lead, customer] = [{ stage: 'lead' }, { stage: 'customer' }];
	const laterCustomer = { ...customer, 'created_at[gte]': '2026-01-01T00:00:00.000100Z' };
	for (const queries of [[lead, customer], [customer, lead], [lead, laterCustomer]] as Query[][]) {
		const scope = { ...scopeOf(''), filters: { entered: '', queries } };
		const reader = readerOf(scope, (query) => pageOf(records, { ...query, 'created_at[gte]': exactly(query['created_at[gte]']) }));
		const ids: unknown[] = [];
		let last: { created: string; ids: string[] } | undefined;
		do {
			const next = await reader.next({ last } as never, 3);
			ids.push(...next.records.map(({ id }) => id));
			({ last } = next);
		} while (last);
		const inScope = queries.flatMap((query) => records.filter(({ stage, created_at }) =>
			stage === query.stage && created_at >= String(query['created_at[gte]'] ?? '')));
		expect(ids.sort()).toEqual(inScope.map(({ id }) => id).sort());
	}
});

test.each([
	['of its second, if the log has whole seconds', '00Z', ['00.900']],
	['of its instant', '00.000Z', []],
])('a backfill ends with the records that may be older than the newest event: those %s', async (_, newest, expected) => {
	const records = ['00.900', '01.100'].map((second) =>
		({ id: second, stage: 'lead', created_at: `2026-01-01T00:00:${second}Z`, updated_at: '', revision: 0 }));
	const reader = readerOf(scopeOf('lead'), (query) => pageOf(records, query));
	const { records: read } = await reader.next({ until: `2026-01-01T00:00:${newest}` } as Backfill, 3);
	expect(read.map(({ id }) => id)).toEqual(expected);
});

test('records that only another ID or an earlier time than the filters allow are neither read nor reported as deleted', async () => {
	const records = ['1', '2', '3'].map((id) => ({ id, stage: 'lead', created_at: `2026-0${id}-01T00:00:00Z`, updated_at: '', revision: 0 }));
	const read = (...queries: Query[]) => readerOf({ ...scopeOf(''), filters: { entered: '', queries } }, (query) => pageOf(records, query));
	expect(await read({ ids: ['1', '3'] }).existing(['1', '2'])).toMatchObject([{ id: '1' }]);
	const last = { created: records[0]!.created_at, ids: ['1'] };
	const reader = read({ 'created_at[gte]': '2026-03-01T00:00:00Z' }, { stage: 'customer' });
	expect((await reader.next({ last } as Backfill, 3)).records).toMatchObject([{ id: '3' }]);
	const event = (type: string, more: object) =>
		({ id: type, type, data: { object: { id: '2' }, previous: null, changed: [], ...more } }) as unknown as CrmEvent;
	const erasure = [event('p.updated', { erased: true }), event('p.deleted', { erased: true })];
	for (const events of [[event('p.updated', {})], erasure]) {
		expect(await itemsOf(read({ ids: ['1'] }), ...events)).toEqual([]);
		expect(await itemsOf(read({ stage: 'customer' }), ...events)).toEqual([{ id: '2', change: 'deleted' }]);
	}
	const fields = [fieldNamed('updated_at', { kind: 'dateTime' })];
	const filters = { entered: '', queries: [{ updated_since: '2026-03-01T00:00:00Z' }] };
	const changedSince = readerOf({ ...scopeOf(''), fields, filters }, (query) => pageOf([], query));
	const [object, previous] = ['2', '1'].map((month) => ({ id: '2', updated_at: `2026-0${month}-01T00:00:00Z` }));
	expect(await itemsOf(changedSince, event('p.updated', { object, previous }))).toEqual([]);
	// An event may not say when the record was changed before, nor a deletion when it was changed last.
	const until = { entered: '', queries: [{ updated_until: '2026-02-01T00:00:00Z' }, { 'updated_at[lt]': '2026-02-01T00:00:00Z' }] };
	for (const query of until.queries) {
		const changedUntil = readerOf({ ...scopeOf(''), fields, filters: { ...until, queries: [query] } }, () => pageOf([], {}));
		const left = [{ ...object, change: 'deleted' }];
		expect(await itemsOf(changedUntil, event('p.updated', { object, previous: { stage: 'lead' } }))).toEqual(left);
		expect(await itemsOf(changedUntil, event('p.deleted', { object }))).toEqual(left);
		expect(await itemsOf(changedUntil, event('p.created', { object }))).toEqual([]);
	}
});

test.each([
	['a field', 'lifecycle_stage', 'lead'], ['a custom field', 'custom_fields.tier', 'gold'],
])('by %s, records that were never in scope do not arrive when they change or are deleted; one in scope does', async (_, filter, value) => {
	await sandbox.call('POST', '/v1/custom-fields', { resource: 'contacts', key: 'tier', label: 'Tier', type: 'text' });
	await sandbox.create('contacts', { last_name: 'Inside', custom_fields: { tier: 'gold' } });
	const n8n = await publishEach({ recordFilters: filterRows({ [filter]: value }) });
	const inScope = await service(`&${filter}=${value}`);
	await until(() => items(n8n).length >= inScope.length);
	const values = { lifecycle_stage: 'customer', custom_fields: { tier: 'silver' } };
	const outside = await sandbox.create('contacts', { last_name: 'Outside', ...values });
	await sandbox.call('PATCH', `/v1/contacts/${outside.id}`, { job_title: 'Buyer' });
	await sandbox.call('DELETE', `/v1/contacts/${outside.id}`);
	const [recordInScope] = inScope;
	await sandbox.call('DELETE', `/v1/contacts/${recordInScope!.id}`);
	await until(() => items(n8n).some(({ id, change }) => id === recordInScope!.id && change === 'deleted'));
	const isUntold = (text: string) => text.endsWith('there is nothing to report about its record.');
	await until(() => n8n.details.filter(isUntold).length === 3);
	expect(items(n8n).filter(({ id }) => id === outside.id)).toEqual([]);
});

test('of the tasks that hang on a record, those alone arrive, as deleted when they do so no more', async () => {
	const { id } = await sandbox.create('contacts', { last_name: 'Hook' });
	const links = [{ resource: 'contacts', id }];
	const n8n = await publishEach({ resource: 'task', recordFilters: filterRows({ 'linked_to: contacts': 'Hook' }) });
	const other = await sandbox.create('tasks', { title: 'Elsewhere' });
	await sandbox.call('DELETE', `/v1/tasks/${other.id}`);
	const task = await sandbox.create('tasks', { title: 'Here', links });
	await until(() => items(n8n).length > 0);
	await sandbox.call('PATCH', `/v1/tasks/${task.id}`, { links: [] });
	await until(() => items(n8n).length > 1);
	expect(items(n8n).map((item) => [item.id, item.change])).toEqual([[task.id, 'created'], [task.id, 'deleted']]);
});

/** Publishes, and stops when the first records of the backfill have come. */
async function interrupted(parameters: IDataObject = {}) {
	let isHeld = true;
	const execute = async () => {
		await until(() => !isHeld);
		return 'success' as const;
	};
	const n8n = await publishEach({ options: { atOnce: 1 }, ...parameters }, { execute });
	await until(() => n8n.executions.length > 0);
	n8n.kill();
	isHeld = false;
	return n8n;
}

test('a restart between records created at the same instant neither loses nor repeats a record', async () => {
	const batch = (name: string) => Array.from({ length: 100 }, (_, i) => ({ name: `${name} ${i}` }));
	for (const name of ['One', 'Two', 'Three']) {
		await sandbox.call('POST', '/v1/companies/batch/create', { items: batch(name) });
	}
	const companies = await sandbox.list('companies?limit=500&sort=created_at');
	const n8n = await interrupted({ resource: 'company' });
	await n8n.activate();
	const emittedIds = () => items(n8n).map(({ id }) => id);
	await until(() => emittedIds().length >= companies.length);
	expect([...emittedIds()].sort()).toEqual(companies.map(({ id }) => id).sort());
	expect(n8n.reported).toEqual([]);
});

test('a scope that names a record stays when the record is renamed, and is reported if it was changed to a name that is gone', async () => {
	const common = { id: null, probability: 0, rotting_days: null };
	const stages = ['open', 'won', 'lost'].map((kind, position) => ({ ...common, name: kind, kind, position }));
	const pipeline = await sandbox.create('pipelines', { name: 'Licences', stages });
	const recordFilters = filterRows({ pipeline_id: 'Licences' });
	const n8n = await publishEach({ resource: 'deal', recordFilters });
	n8n.kill();
	await sandbox.call('PATCH', `/v1/pipelines/${pipeline.id}`, { name: 'Subscriptions' });
	await n8n.activate('init');
	const deal = await sandbox.create('deals', { title: 'Next year', pipeline_id: pipeline.id });
	await until(() => items(n8n).some(({ id }) => id === deal.id));
	expect(n8n.reported).toEqual([]);

	n8n.kill();
	const before = n8n.storedStaticData;
	n8n.setup.parameters = { ...n8n.setup.parameters, recordFilters: filterRows({ pipeline_id: 'Gone' }) };
	for (let attempt = 0; attempt < 2; attempt++) await expect(n8n.activate('init')).rejects.toThrow('Gone');
	expect(n8n.reported).toEqual([expect.stringContaining('Gone')]);
	expect(n8n.storedStaticData).toBe(before);
});
