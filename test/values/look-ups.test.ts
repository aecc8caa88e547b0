import type { IDataObject } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { automatic, create, getMany } from '../support/parameters.ts';
import { useSandbox, type TestSandbox } from '../support/sandbox.ts';
import { runSync, syncIn, syncOf, type SyncRun } from '../support/sync-node.ts';

/** Small: the whole list is read. Large: looking up takes fewer requests than the whole list. */
const small = useSandbox({ contacts: 20 });
const large = useSandbox({ contacts: 6_000 });
const accounts = { small, large };

test('the large account has more companies than are read at once', async () => {
	const { body } = await large.call('GET', '/v1/companies?limit=1');
	expect(body.total).toBeGreaterThan(500);
});

const actions = ({ hints: _, ...outputs }: SyncRun) =>
	Object.values(outputs)
		.flat()
		.sort((a, b) => (a.pairedItem as { item: number }).item - (b.pairedItem as { item: number }).item)
		.map((item) => (item.json.error === undefined ? syncIn(item).action : 'error'));

async function sync(sandbox: TestSandbox, items: IDataObject[], more: IDataObject = {}, setup = {}): Promise<SyncRun> {
	return await runSync({ credential: sandbox.credential, parameters: syncOf('contact', more), items, ...setup });
}

describe.each(['small', 'large'] as const)('in a %s account', (size) => {
	const sandbox = accounts[size];
	const good = (name: string) => ({ external_id: `${size}-${name}`, email: `${name}@${size}.example`, last_name: name });

	describe.each([
		['a malformed email that is matched on', { email: 'no e-mail' }, { matchOn: 'email' }],
		['a malformed email that is only mapped', { email: 'no e-mail', external_id: 'malformed' }, {}],
		['two emails in one value', { email: 'a@x.example,b@x.example', external_id: 'two' }, {}],
		['a key of 256 characters', { external_id: 'k'.repeat(256) }, {}],
		['half of a character', { external_id: 'half \ud83d of it' }, {}],
	])('%s', (name, bad, more) => {
		const goodItem = (key: string) => good(`${key}-${name.replace(/\W/g, '')}`);
		const items = [goodItem('a'), { last_name: 'Bad', ...bad }, goodItem('b'), goodItem('c')];

		test('fails its own item and no other', async () => {
			const result = await sync(sandbox, items, more, { continueOnFail: true });
			expect(actions(result)).toEqual(['create', 'error', 'create', 'create']);
			const again = await sync(sandbox, items, more, { continueOnFail: true });
			expect(actions(again)).toEqual(['unchanged', 'error', 'unchanged', 'unchanged']);
		});
	});

	test('a key in another normal form is the same key', async () => {
		const key = `${size} Zürich`;
		await sandbox.create('contacts', { external_id: key.normalize('NFC'), last_name: 'One' });
		const items = [{ external_id: key.normalize('NFD'), last_name: 'One' }, good('nfc')];
		expect(actions(await sync(sandbox, items))).toEqual(['unchanged', 'create']);
	});
});

describe.each(['small', 'large'] as const)('a filter by a name, in a %s account,', (size) => {
	const sandbox = accounts[size];
	const { failure, run } = nodeRuns(sandbox);
	const list = (filters: IDataObject, resource = 'contact') => getMany(resource, {}, filters);

	test('finds the records of the company', async () => {
		const company = await sandbox.create('companies', { name: 'Fjordland' });
		await sandbox.create('contacts', { last_name: 'Ek', company_id: company.id });
		const { items } = await run(list({ company_id: 'Fjordland' }));
		expect(items.map(({ json }) => json.last_name)).toEqual(['Ek']);
		expect((await run(list({ company_id: company.id }))).items).toHaveLength(1);
	});

	test.each([
		['a typo of one word', { company_id: 'Fjordlnd' }],
		['a typo of an owner', { owner_id: 'nobody' }],
		['one name of several', { company_id: 'Fjordland, Fjordlnd' }],
	])('that is %s is an error', async (_, filters) => {
		expect((await failure(list(filters))).message).toMatch(/does not match any record of (companies|users)/);
	});

	test.each(['Negotiaton', 'negotiation stage'])('that no stage has, %s, is an error', async (stage) => {
		expect((await failure(list({ stage_id: stage }, 'deal'))).message).toMatch(
			/^Stage: “.+” does not match any of the stages in pipelines/,
		);
	});

	test.each([
		['/v1/companies', { company_id: 'Fjordland' }, 'contact'],
		['/v1/pipelines', { stage_id: 'Negotiation' }, 'deal'],
	])('is an error if %s may not be read', async (path, filters, resource) => {
		await sandbox.faults({ path, status: 403 });
		expect((await failure(list(filters, resource))).message).toMatch(/^(Company|Stage): “.+” could not be looked up in/);
		await sandbox.faults();
	});

	test('accepts an id of any form if the user says it is one', async () => {
		await sandbox.faults({ path: '/v1/companies', status: 403 });
		expect((await run(list({ company_id: 'id:acme' }))).items).toEqual([]);
		await sandbox.faults();
	});
});

describe.each(['small', 'large'] as const)('a name that several records have, in a %s account,', (size) => {
	const sandbox = accounts[size];
	const { run } = nodeRuns(sandbox);

	test.each([
		['two names and an external id', [{ name: 'Twin' }, { name: 'Twin' }, { name: 'Other', external_id: 'Twin' }]],
		['a name and an external id', [{ name: 'Duo 7' }, { name: 'Else', external_id: 'Duo 7' }]],
		['a name and a domain', [{ name: 'duo.example' }, { name: 'Any', domain: 'duo.example' }]],
	])('%s, is refused with the candidates', async (_, companies) => {
		const ids = [];
		for (const company of companies) ids.push((await sandbox.create('companies', company)).id);
		const name = companies[0]!.name;
		const { items } = await run(
			create('contact', automatic),
			[{ last_name: 'Ek', company_id: name }, { last_name: 'Ek' }],
			{ continueOnFail: true },
		);
		expect(items[0]?.json.error).toMatch(new RegExp(`^Company: “${name}” may match several records of companies`));
		for (const id of ids) expect(items[0]?.json.error).toContain(id);
		expect(items[1]?.json.error).toBeUndefined();
	});

	test('fails its item if the CRM refuses the look-up', async () => {
		const { items } = await run(
			create('contact', automatic),
			['x y'.repeat(100), 'half \ud83d', 'Unique & Sons'].map((name) => ({ last_name: 'Ek', company_id: name })),
			{ continueOnFail: true },
		);
		expect(items.map(({ json }) => json.error)).toEqual(
			items.map(() =>
				expect.stringMatching(
					/^Company: “.+” (does not match any record of companies|could not be looked up in companies)|contains half of a character/s,
				),
			),
		);
	});
});

test('a list of names that cannot be read fails its item', async () => {
	const { items } = await nodeRuns(small).run(
		create('contact', automatic),
		['half \ud83d', [{ name: 'x' }], []].map((tags) => ({ last_name: 'Ek', tag_ids: tags as IDataObject[] })),
		{ continueOnFail: true },
	);
	expect(items.map(({ json }) => json.error)).toEqual([
		expect.stringContaining('half of a character'),
		expect.stringContaining('is not text'),
		undefined,
	]);
});

test('an expression that takes a name from its item is evaluated once, for the look-up and for the record', async () => {
	for (const name of ['Once & Sons', 'Twice & Sons']) await small.create('companies', { name });
	const { items } = await nodeRuns(small).run(
		create('contact', {
			company_id: '={{ $json.names.shift() }}',
			last_name: '={{ $json.names.join() }}',
			job_title: '={{ ($json.names.push("Chief")) + "" }}',
			first_name: '={{ $json.names.at(-1) }}',
		}),
		[{ names: ['Once & Sons', 'Twice & Sons'] }],
	);
	const { body } = await small.call('GET', `/v1/companies/${String(items[0]?.json.company_id)}`);
	expect(body.name).toBe('Once & Sons');
	expect(items[0]?.json).toMatchObject({ last_name: 'Twice & Sons', job_title: '2', first_name: 'Chief' });
});
