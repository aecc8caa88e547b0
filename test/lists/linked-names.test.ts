import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { automatic, create, getMany, on, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 30 });
const { run } = nodeRuns(sandbox);
const simplified = (parameters: INodeParameters, options: IDataObject = {}) => run({ ...parameters, simplify: true, options });
/** The collections that were read since the last call, besides the deals. */
const readBeside = async () => {
	const reads = (await sandbox.requests()).filter(({ method, path }) => method === 'GET' && /^\/v1\/(?!deals|custom-fields)/.test(path));
	await sandbox.clear();
	return reads.map(({ path }) => path).sort();
};

async function aDeal(): Promise<{ deal: IDataObject; named: IDataObject }> {
	const company = await sandbox.create('companies', { name: 'Acme Beside' });
	const contact = await sandbox.create('contacts', { first_name: 'Ada', last_name: 'Beside' });
	const tag = await sandbox.create('tags', { name: `Tag ${String(company.id)}` });
	const owner = await sandbox.first('users');
	const links = { company_id: company.id, contact_id: contact.id, owner_id: owner.id, tag_ids: [tag.id] };
	const deal = await sandbox.create('deals', { title: 'Named', ...links });
	const linkedNames = { company_name: 'Acme Beside', contact_name: 'Ada Beside', owner_name: owner.name, tag_names: [tag.name] };
	return { deal, named: { ...links, ...linkedNames, stage_name: expect.any(String) } };
}

describe('the names of linked records stand beside their IDs', () => {
	test.each([
		['Get', (id: unknown) => on('deal', 'get', id)],
		['Get Many', (id: unknown) => getMany('deal', {}, { ids: String(id) })],
		['Update', (id: unknown) => update('deal', String(id), { amount: 5 })],
		['an action', (id: unknown) => on('deal', 'win', id)],
	])('in %s, with one request for each kind of record', async (_name, parametersFor) => {
		const { deal, named } = await aDeal();
		await sandbox.clear();
		const { items } = await simplified(parametersFor(deal.id));
		expect(items).toMatchObject([{ json: named }]);
		expect(await readBeside()).toEqual(['/v1/companies', '/v1/contacts', '/v1/pipelines', '/v1/tags', '/v1/users']);
	});

	test('in the records of One Page, and none in whole records and chosen fields, unless the option adds them', async () => {
		const { deal, named } = await aDeal();
		const list = getMany('deal', {}, { ids: deal.id });
		expect((await simplified(list, { onePage: true })).items).toMatchObject([{ json: { records: [named] } }]);
		for (const options of [{ outputFields: ['title', 'company_id'] }, { addNames: false }]) {
			expect((await simplified(list, options)).items[0]!.json).not.toHaveProperty('company_name');
		}
		expect((await run(list)).items[0]!.json).not.toHaveProperty('company_name');
		const { items } = await simplified(list, { outputFields: ['title', 'company_id'], addNames: true });
		expect(items.map(({ json }) => json)).toEqual([{ title: 'Named', company_id: named.company_id, company_name: 'Acme Beside' }]);
	});

	test('without a request if the record was given by name', async () => {
		await sandbox.create('companies', { name: 'Acme Given' });
		await sandbox.clear();
		const { items } = await simplified(create('contact', { last_name: 'Named', company_id: 'acme given' }));
		expect(items).toMatchObject([{ json: { company_name: 'Acme Given' } }]);
		expect(await readBeside()).toEqual(['/v1/companies']);
	});

	test('if more than one request is needed, only by the option, from the whole list if that is shorter; a hint says so', async () => {
		const hundreds = [100, 100, 100, 100, 1].map((length, part) => Array.from({ length }, (_, i) => ({ name: `Many ${part}-${i}` })));
		for (const companies of hundreds) {
			const { body } = await sandbox.call('POST', '/v1/companies/batch/create', { items: companies });
			const { results } = body as { results: Array<{ data: IDataObject }> };
			const deals = results.map(({ data }) => ({ title: 'One of many', company_id: data.id }));
			await sandbox.call('POST', '/v1/deals/batch/create', { items: deals });
		}
		const list = getMany('deal', {}, { title: 'One of many' });
		const { items, hints } = await simplified(list);
		expect(items).toHaveLength(401);
		expect(items.filter(({ json }) => 'company_name' in json)).toEqual([]);
		expect(items[0]!.json).toHaveProperty('stage_name');
		expect(JSON.stringify(hints)).toContain('The names of companies were left out, because they take 5 requests.');
		await sandbox.clear();
		const { items: all } = await simplified(list, { addNames: true });
		expect(all.map(({ json }) => json.company_name)).toEqual(hundreds.flat().map(({ name }) => name));
		expect((await readBeside()).filter((path) => path === '/v1/companies')).toHaveLength(2);
	});

	test('and go back into the CRM with the record: the ID is written', async () => {
		const { deal, named } = await aDeal();
		const { items } = await simplified(on('deal', 'get', deal.id));
		const { items: written } = await run({ ...update('deal', String(deal.id), automatic) }, [{ ...items[0]!.json, amount: 7 }]);
		expect(written).toMatchObject([{ json: { company_id: named.company_id, contact_id: named.contact_id, amount: 7 } }]);
	});

	test('and stand in no item that failed: it has the values of its input', async () => {
		const input = { company_name: 'Acme', company_id: null, records: [null], next_cursor: null };
		const { items } = await run({ ...on('deal', 'get', 'deal_none'), simplify: true }, [input], { continueOnFail: true });
		expect(items).toMatchObject([{ json: { ...input, error: expect.any(String) } }]);
	});
});
