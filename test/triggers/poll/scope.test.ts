import type { IDataObject } from 'n8n-workflow';

import { filterRows } from '../../support/parameters.ts';
import { usePublished, type Published } from '../../support/published-workflow.ts';
import { useSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const sandbox = useSandbox({ contacts: 250 });
const { publish } = usePublished(sandbox, { source: 'records', resource: 'contact', simplify: false });

const items = (n8n: Published) => n8n.executions.flatMap((execution) => execution.items);
const contact = async (values: IDataObject) => await sandbox.create('contacts', values);
const all = async (query = '') => await sandbox.list(`contacts?limit=500&sort=created_at${query}`);

test('records that were never in scope do not arrive when they change or are deleted, and one that is in scope does', async () => {
	const n8n = await publish({ recordFilters: filterRows({ lifecycle_stage: 'lead' }) });
	const inScope = await all('&lifecycle_stage=lead');
	await until(() => items(n8n).length >= inScope.length);
	const outside = await contact({ last_name: 'Outside', lifecycle_stage: 'customer' });
	await sandbox.call('PATCH', `/v1/contacts/${outside.id}`, { job_title: 'Buyer' });
	await sandbox.call('DELETE', `/v1/contacts/${outside.id}`);
	const [recordInScope] = inScope;
	await sandbox.call('DELETE', `/v1/contacts/${recordInScope!.id}`);
	await until(() => items(n8n).some(({ id, change }) => id === recordInScope!.id && change === 'deleted'));
	expect(items(n8n).filter(({ id }) => id === outside.id)).toEqual([]);
});

test('of the tasks that hang on a record, those alone arrive, as deleted when they do so no more', async () => {
	const { id } = await contact({ last_name: 'Hook' });
	const links = [{ resource: 'contacts', id }];
	const n8n = await publish({ resource: 'task', recordFilters: filterRows({ 'linked_to: contacts': 'Hook' }) });
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
	const n8n = await publish({ options: { atOnce: 1 }, ...parameters }, { execute });
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
	const n8n = await publish({ resource: 'deal', recordFilters });
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
