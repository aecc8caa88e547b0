import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns, rowsOf } from '../support/file-runs.ts';
import { byId, filterRows } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const source = useSandbox({ contacts: 120 });
const target = useSandbox({ contacts: 0 });
const store = useBinaryStore();
const from = fileRuns(source, store);
const to = fileRuns(target, store);

const shared = ['address', 'lifecycle_stage', 'owner_id', 'tag_ids', 'custom_fields', 'external_id'];

/** Record types, what people write in them, and an order that both accounts have. */
const recordTypes = [
	{
		resource: 'company',
		sort: 'name',
		fields: ['name', 'domain', 'industry', 'employee_count', 'annual_revenue', 'currency', 'website', ...shared],
	},
	{
		resource: 'contact',
		sort: 'email',
		fields: ['first_name', 'last_name', 'email', 'emails', 'phones', 'company_id', 'marketing_consent', ...shared],
	},
	{
		resource: 'deal',
		sort: 'title',
		fields: ['title', 'pipeline_id', 'stage_id', 'amount', 'currency', 'company_id', 'contact_ids', ...shared.slice(2)],
	},
	{ resource: 'note', sort: 'created_at', fields: ['body', 'pinned', 'author_id', 'links', 'external_id'] },
	{
		resource: 'customObjectRecord',
		sort: 'title',
		fields: ['custom_fields', 'external_id', 'owner_id'],
		more: { objectKey: byId('machines') },
	},
];

/** Deletes all records, which the files of exports name by their ids. */
async function empty(): Promise<void> {
	for (const { resource, more = {} } of recordTypes) {
		const { text } = await to.exportOf({ ...more, options: { outputFields: ['id'] } }, resource);
		if (text.trim().split('\n').length > 1) await to.importOf(text, { ...more, importAs: 'delete', kind: resource });
	}
}

const contactsOf = async (sandbox: typeof source): Promise<IDataObject[]> => {
	return await sandbox.list('contacts?limit=500&sort=email');
};

test.each(['csv', 'ndjson'])('an account is imported into an empty one from %s files, and exported byte for byte', async (fileFormat) => {
	await empty();
	for (const { resource, sort, fields, more = {} } of recordTypes) {
		const options = { outputFields: fields, sort, madeFor: 'otherAccount' };
		const query = { ...more, fileFormat, options };
		const exported = await from.exportOf(query, resource);
		// Only the order of creation cannot change during an export.
		expect(exported.hints).toEqual(sort === 'created_at' ? [] : [expect.stringContaining(`Sorted by ${sort}`)]);
		expect(exported.text.trim().split('\n').length).toBeGreaterThan(10);
		expect(exported.text).not.toMatch(/\b[a-z]{3}_[0-9a-z]{26}\b/);
		const { json, failed } = await to.importOf(exported.text, { ...more, fileFormat, kind: resource });
		expect({ resource, refused: json.failed, failed }).toMatchObject({ resource, refused: 0 });
		expect((await to.exportOf(query, resource)).text).toBe(exported.text);
	}
	// The links are those of the other account: the same companies have other ids there.
	const [there, here] = [await contactsOf(source), await contactsOf(target)];
	const linked = there.filter(({ company_id: id }) => id !== null);
	expect(linked.length).toBeGreaterThan(50);
	const ids = new Set(here.map(({ company_id: id }) => id));
	expect(linked.filter(({ company_id: id }) => ids.has(id))).toEqual([]);
});

test('a link by a value that looks like an id is imported into another account', async () => {
	const externalIds = ['100123', 'shop-100123', 'name:100123'];
	const there = new Map<unknown, unknown>();
	for (const key of externalIds) {
		const company = { name: 'Altamira', external_id: key };
		const { body } = await source.call('POST', '/v1/companies', company);
		await source.create('contacts', { last_name: 'Kvist', job_title: key, company_id: body.id as string });
		there.set(key, (await target.create('companies', company)).id);
	}
	const filters = filterRows({ last_name: 'Kvist' });
	const options = { outputFields: ['last_name', 'job_title', 'company_id'], madeFor: 'otherAccount' };
	const { text, hints } = await from.exportOf({ filters, options });
	expect(hints).toEqual([]);
	expect(rowsOf(text).map((row) => row['company_id']).sort()).toEqual(externalIds.map((key) => `external_id:${key}`).sort());
	expect((await to.importOf(text, { importAs: 'create' })).json).toMatchObject({ done: externalIds.length, failed: 0 });
	const { body } = await target.call('GET', '/v1/contacts?last_name=Kvist');
	const linked = (body.data as IDataObject[]).map((contact) => [contact.job_title, contact.company_id] as const);
	expect(new Map(linked)).toEqual(there);
});

test.each([
	[{ external_id: 'ACME' }, { name: 'ACME' }],
	[{ domain: 'acme.example' }, { name: 'acme.example' }],
])('a link by %j is never made to a company that is %j in the other account', async (companyKeys, namesake) => {
	const company = await source.create('companies', { name: 'Linked', ...companyKeys });
	await source.create('contacts', { last_name: 'Linker', company_id: company.id });
	await target.create('companies', namesake);
	const options = { outputFields: ['last_name', 'company_id'], madeFor: 'otherAccount' };
	const { text } = await from.exportOf({ filters: filterRows({ company_id: company.id }), options });
	const { json, failed } = await to.importOf(text, { importAs: 'create' });
	expect(json).toMatchObject({ done: 0, failed: 1 });
	expect(failed).toContain('does not match any record of companies');
});

/** An account as people have it, and how its files are written. */
const anyDeal = fc.record({
	title: fc.stringMatching(/^[a-zA-ZäéßÑ][\w äöü;,|"'.=+-]{0,30}[a-z]$/),
	amount: fc.integer({ min: -9_999_999, max: 999_999_999 }).map((cents) => cents / 100),
	probability: fc.integer({ min: 0, max: 100 }),
	expected_close_date: fc.integer({ min: 0, max: 9_000 }).map((day) => new Date(Date.UTC(2010, 0, 1 + day)).toISOString().slice(0, 10)),
});
const anyNotation = fc.record({
	region: fc.constantFrom('api', 'america', 'britain', 'europe'),
	delimiter: fc.constantFrom('auto', ',', ';', '\t', '|'),
	madeFor: fc.constantFrom('people', 'account', 'otherAccount'),
	columns: fc.shuffledSubarray(['title', 'amount', 'probability', 'expected_close_date', 'external_id'], { minLength: 5 }),
});

test('any account comes back from a file of any region, field by field', async () => {
	let accounts = 0;
	await fc.assert(
		fc.asyncProperty(fc.array(anyDeal, { minLength: 1, maxLength: 6 }), anyNotation, async (deals, { region, columns, ...options }) => {
			const account = `random-${++accounts}-`;
			for (const [i, deal] of deals.entries()) await source.create('deals', { ...deal, external_id: `${account}${i}` });
			const filters = filterRows({ 'external_id[starts_with]': account });
			const { text } = await from.exportOf({ filters, options: { outputFields: columns, region, ...options } }, 'deal');
			const dates = region === 'america' ? 'monthDay' : region === 'api' ? 'api' : 'dayMonth';
			const notation = { dates, numbers: region === 'api' ? 'api' : region === 'europe' ? 'comma' : 'point' };
			const upsert = { kind: 'deal', importAs: 'upsert', matchOn: 'external_id', options: { valuesIn: { notation } } };
			const imported = await to.importOf(text, upsert);
			expect(imported.json).toMatchObject({ created: deals.length, failed: 0 });
			const written = await target.list<IDataObject>(`deals?external_id[starts_with]=${account}`);
			const valuesOf = (deal: IDataObject) => Object.fromEntries(Object.keys(deals[0]!).map((name) => [name, deal[name]]));
			const inOrder = written.sort((a, b) => String(a.external_id).localeCompare(String(b.external_id)));
			expect(inOrder.map(valuesOf)).toEqual(deals.map(valuesOf));
		}),
		{ numRuns: 20 },
	);
});
