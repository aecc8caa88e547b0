import type { IDataObject } from 'n8n-workflow';

import { useTriggers } from '../support/open-triggers.ts';
import { usePublished, type Published } from '../support/published-workflow.ts';
import { useSandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

const sandbox = useSandbox({ contacts: 0 });
const { publish } = usePublished(sandbox);
const start = useTriggers(sandbox);

const items = (n8n: Published) => n8n.executions.flatMap((execution) => execution.items);
const addNames = { options: { addNames: true } };

let company: IDataObject;
const createDeals = async (count = 1) => {
	for (let i = 0; i < count; i++) await sandbox.create('deals', { title: `Deal ${i}`, company_id: company.id });
};
beforeAll(async () => {
	company = await sandbox.create('companies', { name: 'Altamira' });
});

test('names stand beside the IDs of linked records, one request for each kind and group', async () => {
	const n8n = await publish({ events: ['deal.created'], output: 'record', grouping: 'group', groupSize: 100, ...addNames });
	await n8n.deactivate();
	await createDeals(30);
	const before = (await sandbox.requests()).length;
	await n8n.activate();
	await until(() => items(n8n).length === 30);
	const named = { company_name: 'Altamira', stage_name: 'Qualified', event: { type: 'deal.created' } };
	for (const item of items(n8n)) expect(item).toMatchObject(named);
	expect((await sandbox.requests()).slice(before).filter(({ path }) => path === '/v1/companies')).toHaveLength(1);
});

test('a stage that is new since the names were read has its name', async () => {
	const n8n = await publish({ events: ['deal.created'], output: 'record', ...addNames });
	await createDeals();
	await until(() => items(n8n).length === 1);
	const stages = ['open', 'won', 'lost'].map((kind) => ({ name: `New ${kind}`, kind }));
	const pipeline = await sandbox.create('pipelines', { name: 'New', stages });
	await sandbox.create('deals', { title: 'In a new stage', pipeline_id: pipeline.id });
	await until(() => items(n8n).length === 2);
	expect(items(n8n).map(({ stage_name: name }) => name)).toEqual(['Qualified', 'New open']);
});

test.each([
	['simplified records have names unless the option is off', { source: 'records', resource: 'deal' }, true],
	['whole records have none unless the option is on', { source: 'records', resource: 'deal', simplify: false }, false],
	['nor have the records of events', { events: ['deal.created'], output: 'record' }, false],
])('%s', async (_, parameters, hasNames) => {
	const n8n = await publish(parameters);
	await createDeals();
	await until(() => items(n8n).length > 0);
	expect(Object.hasOwn(items(n8n)[0]!, 'stage_name')).toBe(hasNames);
});

test('the webhook trigger adds the same names', async () => {
	const trigger = await start({ events: ['deal.created'], output: 'record', ...addNames });
	await createDeals();
	await until(() => trigger.started.length > 0);
	expect(trigger.started).toMatchObject([{ stage_name: 'Qualified', event: { type: 'deal.created' } }]);
});
