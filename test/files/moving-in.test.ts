import { readdirSync, readFileSync } from 'node:fs';

import type { IDataObject } from 'n8n-workflow';

import { stageNamed, valuesNamed } from '../../nodes/CrmPlatform/writing/recordCreator';
import { alteredService } from '../support/altered-service.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns, rowsOf } from '../support/file-runs.ts';
import { run } from '../support/node-runs.ts';
import { useSandbox } from '../support/sandbox.ts';
import { undoing } from '../support/undo-node.ts';

/** A user who has nothing but the exports of a system, its name and the page on moving in. */
const sandbox = useSandbox({ contacts: 0 });
const service = alteredService(sandbox);
const store = useBinaryStore();
const { importOf, setupOf } = fileRuns(sandbox, store);
const folder = `${__dirname}/../support/exports`;

const everything = async () =>
	await Promise.all(['companies', 'contacts', 'deals'].map(async (path) => await sandbox.list<IDataObject>(`${path}?limit=100`)));

/** The number of links of the records that came from a system. */
const linksOf = (collections: IDataObject[][], source: string): number =>
	collections.flat().reduce((sum, record) => {
		if (!String(record.external_id).startsWith(`${source}:`)) return sum;
		return sum + ['company_id', 'contact_id', 'parent_company_id', 'owner_id'].filter((name) => typeof record[name] === 'string').length;
	}, 0);

const pipedrive = ['Activities to do', 'Status'].map((name) => `Deal - ${name}`);

/** The columns that hold nothing of the CRM, and the links that the files have. */
test.each<[source: string, unmatched: string[], links: number]>([
	['hubspot', ['Annual Revenue', 'Create Date', 'Lead Status', 'Marketing contact status', 'Products of Interest'], 5],
	['salesforce', ['CreatedDate', 'HasOptedOutOfEmail', 'IsClosed', 'OwnerId', 'Salutation', 'Type'], 6],
	['pipedrive', [...pipedrive, 'Organization - Address', 'Organization - People', 'Person - Name', 'Person - Open deals'], 12],
	['zoho', ['Account Owner.id', 'Contact Owner.id', 'Created Time', 'Deal Owner.id', 'Email Opt Out'], 13],
])('the files of %s become records with all of their links, once, and can be taken back', async (source, unmatched, links) => {
	const names = readdirSync(folder).filter((name) => name.startsWith(source));
	const stored = await Promise.all(
		names.map(async (fileName, i) => [`file${i}`, await store.put(readFileSync(`${folder}/${fileName}`), fileName)] as const),
	);
	const otherOwner = String((await sandbox.first('users')).email);
	const notation = { lists: 'semicolon', numbers: 'point', countries: 'names', valueMap: 'Contract Sent → Proposal' };
	const options = { otherOwner, refusedValues: 'leaveOut', createMissing: ['tags', 'companies'], valuesIn: { notation } };
	const moveIn = async (executionId: string, preview = false) => {
		const parameters = { resource: 'file', operation: 'moveIn', sourceName: source, preview, options };
		const { items } = await run({ credential: sandbox.credential, parameters, files: Object.fromEntries(stored), executionId });
		return items.map(({ json }) => json);
	};
	const before = await everything();
	const preview = await moveIn(`${source}-preview`, true);
	const columns = preview.flatMap((json) => json.columns as Array<{ column: string; field: string | null; why: string; filled: number }>);
	// A second column of a field, such as a second phone number, goes nowhere.
	const lost = columns.filter(({ field, why, filled }) => field === null && filled > 0 && !/already$|^The same as/.test(why));
	expect([...new Set(lost.map(({ column }) => column))].sort()).toEqual(unmatched);
	const statusColumn = lost.find(({ column }) => column === 'Deal - Status');
	if (source === 'pipedrive') expect(statusColumn?.why).toContain('the stage of a deal says whether it is won or lost');
	expect(await everything()).toEqual(before);

	const items = await moveIn(`${source}-1`);
	const written = items.slice(0, -1);
	expect(preview.map(({ rows, ready, left_out: leftOut }) => [rows, ready, leftOut])).toEqual(
		written.map(({ rows, created, left_out: leftOut }) => [rows, created, leftOut]),
	);
	const after = await everything();
	expect(linksOf(after, source)).toBe(links);
	for (const counts of items.at(-1)!.comparison as IDataObject[]) {
		// Of a contact with two companies, the field takes none.
		const different = source === 'hubspot' && counts.record_type === 'Contact' ? 1 : 0;
		expect(counts).toMatchObject({ in_crm: counts.rows, missing: 0, extra: 0, different });
	}
	await moveIn(`${source}-2`);
	expect(await everything()).toEqual(after);
	await undoing(sandbox).undo(`${source}-1`);
	expect(await everything()).toEqual(before);
});

test.each<[kind: string, columns: Record<string, string | null>]>([
	['contact', {
		'(Do Not Modify) Contact': 'external_id',
		Name: 'last_name',
		'First Name': 'first_name',
		Emails: 'email',
		'Phone numbers': 'phone',
		Title: null,
		'Position - Work': 'job_title',
		Accounts: 'company_id',
		// Of two addresses.
		'Address 1: Street 1': null,
		'Primary location > City': null,
		'Lead owner': 'owner_id',
	}],
	['company', {
		'hubspot ID': 'external_id',
		'Company name': 'name',
		'Billing Address': 'address.street',
		BillingCity: 'address.city',
		'Parent Organisation Id': 'parent_company_id',
		'Propietario de la empresa': 'owner_id',
	}],
	['deal', {
		id: 'external_id',
		deal_id: null,
		'Opportunity Name': 'title',
		'Current stage name': 'stage_id',
		'Primary Contact Name': 'contact_id',
		'Lead Source': 'source',
		'Est. Close Date': 'expected_close_date',
	}],
	['deal', {
		'Angebots-ID': 'external_id',
		'Nome da negociação': 'title',
		Kunde: 'company_id',
		Contactpersoon: 'contact_id',
		Verkaufsphase: 'stage_id',
		'Stage Date': null,
		Status: null,
		'Erwartetes Abschlussdatum': 'expected_close_date',
		Close: null,
		PROBABILITE: 'probability',
		'Leadquelle (Angebot)': 'source',
	}],
])('the columns of a %s are recognized with what exports add to them, and never two of one field', async (kind, columns) => {
	const csv = `${Object.keys(columns).join(',')}\n${Object.keys(columns).map((_, i) => `v${i}`).join(',')}\n`;
	const { json } = await importOf(csv, { kind, sourceName: 'hubspot', importAs: 'upsert', matchOn: 'external_id', preview: true });
	expect(Object.fromEntries((json.columns as IDataObject[]).map(({ column, field }) => [column, field]))).toEqual(columns);
});

test('numbers that could be two, or would lose their currency, are refused', async () => {
	const preview = async (rows: string, notation = {}) =>
		await importOf(`Deal Name,Currency,Amount\n${rows}`, { kind: 'deal', preview: true, options: { valuesIn: { notation } } });
	const unclear = await preview("A,,12.500\nB,,3.000 €\nC,,CHF 7'250.00\n");
	expect([unclear.json, unclear.hints.join()]).toMatchObject([{ failed: 3 }, expect.stringContaining('1 of 3 values of “Amount” are')]);
	const signed = await preview('A,,"$1,234.56"\nB,GBP,£2\nC,EUR,£2\n', { numbers: 'point' });
	expect([signed.json, signed.hints.join()]).toMatchObject([{ ready: 1, failed: 2 }, expect.not.stringContaining('choose')]);
	const choice = { kind: 'deal', preview: true, options: { createMissing: ['customFields'] } };
	const { json } = await importOf('Deal Name,Weight\nA,12.500\nB,3.25\n', choice);
	expect(json).toMatchObject({ failed: 1, created_besides: [{ names: ['Weight: Number'] }] });
});

test('no stage is created for a row whose pipeline is refused, even if there is only one pipeline', async () => {
	const choice = { kind: 'deal', options: { createMissing: ['pipelines'] }, preview: true };
	for (const { id } of (await sandbox.list('pipelines')).slice(1)) await sandbox.call('DELETE', `/v1/pipelines/${id}`);
	expect(await sandbox.list('pipelines')).toHaveLength(1);
	const { json } = await importOf('Deal Name,Pipeline,Stage\nA,#N/A,Ghost\n', choice);
	expect(json).toMatchObject({ ready: 0, failed: 1, created_besides: [] });
});

test('pipelines and stages that deals name are created once if the user chooses so, and the preview lists them', async () => {
	const csv = 'Deal Name,Pipeline,Stage\nA,Partners,Qualified\nB,partners,Closed Won\nC,Partners,qualified\nD,Sales,Trial\nE,,Trial\n';
	const choice = { kind: 'deal', options: { createMissing: ['pipelines'] } };
	const pipelines = async () => await sandbox.list<IDataObject>('pipelines?limit=100');
	const before = await pipelines();
	const preview = await importOf(csv, { ...choice, preview: true });
	const created = [
		{ records: 'pipelines', count: 1, names: ['Partners'] },
		{ records: 'stages', count: 3, names: ['Partners: Qualified (open)', 'Partners: Closed Won (won)', 'Sales: Trial (open)'] },
	];
	expect(preview.json).toMatchObject({ ready: 5, failed: 0, created_besides: created });
	expect(await pipelines()).toEqual(before);
	const { json, done } = await importOf(csv, choice);
	expect(json).toMatchObject({ created: 5, failed: 0, created_besides: created });
	expect(await pipelines()).toHaveLength(before.length + 1);
	const deals = await Promise.all(rowsOf(done).map(async ({ import_id: id }) => await sandbox.read(`deals/${id}`)));
	expect(deals.map(({ status }) => status)).toEqual(['open', 'won', 'open', 'open', 'open']);
	expect(deals[0]).toMatchObject({ pipeline_id: deals[1]!.pipeline_id, stage_id: deals[2]!.stage_id });
	expect(deals[4]!.stage_id).toBe(deals[3]!.stage_id);
	expect((await importOf(csv, choice)).json).toMatchObject({ created: 5, created_besides: [] });
});

test('choices that columns have are added to those that others add during the import', async () => {
	const definition = { resource: 'contacts', key: 'plan', label: 'Plan', type: 'select', options: [{ value: 'basic', label: 'Basic' }] };
	const { id } = await sandbox.create('custom-fields', definition);
	const choices = async () => (await sandbox.read(`custom-fields/${id}`)).options as Array<{ value: string }>;
	const add = async (value: string) =>
		await sandbox.call('PATCH', `/v1/custom-fields/${id}`, { options: [...(await choices()), { value, label: value }] });
	service.alter({ async request({ method, url: { searchParams } }) {
		if (searchParams.has('key')) await add('Early');
		if (method === 'PATCH') await add('Late');
	} });
	const setup = await setupOf('Last Name,Plan\nA,Gold\n', { options: { createMissing: ['choices'] } });
	await expect(run({ ...setup, credential: service.credential })).rejects.toMatchObject({ httpCode: '412' });
	await run(setup);
	expect((await choices()).map(({ value }) => value)).toEqual(['basic', 'Early', 'Late', 'Gold']);
});

test('a stage that others add during the import is not added a second time', async () => {
	const [pipeline] = await sandbox.list('pipelines?name=Sales');
	const path = `pipelines/${String(pipeline!.id)}`;
	const stages = async () => (await sandbox.read(path)).stages as IDataObject[];
	service.alter({ async request({ method, url }) {
		if (method !== 'GET' || !url.pathname.startsWith('/v1/pipelines/') || (await stages()).some(({ name }) => name === 'Meanwhile')) return;
		await sandbox.call('PATCH', `/v1/${path}`, { stages: [...(await stages()), { name: 'Meanwhile', kind: 'open' }] });
	} });
	const choice = { kind: 'deal', options: { createMissing: ['pipelines'] } };
	const { json } = await importOf('Deal Name,Pipeline,Stage\nA,Sales,meanwhile\n', choice, { credential: service.credential });
	expect(json).toMatchObject({ created: 1, created_besides: [] });
	expect((await stages()).filter(({ name }) => /meanwhile/i.test(String(name)))).toHaveLength(1);
});

test('stages and choices are added to lists without a version, and a hint says that others may add some meanwhile', async () => {
	const options = [{ value: 'a', label: 'A' }];
	await sandbox.create('custom-fields', { resource: 'deals', key: 'level', label: 'Level', type: 'select', options });
	const withoutVersion = (text: string) => text.replace(/"version": ?\d+,|,\s*"version": ?\d+/g, '');
	service.alter({ answer: (text, { url }) => (/pipelines|custom-fields/.test(url.pathname) ? withoutVersion(text) : text) });
	for (const [choice, columns, values] of [['pipelines', 'Pipeline,Stage', 'Sales,'], ['choices', 'Level', '']] as const) {
		const importing = async (name: string, setup = {}) =>
			await importOf(`Deal Name,${columns}\nA,${values}${name}\n`, { kind: 'deal', options: { createMissing: [choice] } }, setup);
		const { json, hints } = await importing('Unversioned', { credential: service.credential });
		expect([json.created, hints.join()]).toEqual([1, expect.stringContaining('have no version')]);
		expect((await importing('Versioned')).hints.join()).not.toContain('have no version');
	}
});

test.each([
	['Won', 'won'], ['Closed Won', 'won'], ['6. Closed – Won', 'won'], ['GEWONNEN', 'won'], ['Fermé gagné', 'won'],
	['Closed Lost', 'lost'], ['Geschlossen (verloren)', 'lost'], ['Perdidos', 'open'],
	['Won’t buy', 'open'], ["Won't buy", 'open'], ['Not won yet', 'open'], ['Won?', 'open'], ['Lost contact', 'open'], ['Won/Lost', 'open'],
	['Personal demo', 'open'], ['Persona defined', 'open'], ['Vintage deals', 'open'], ['Closed', 'open'], ['', 'open'],
])('deals in a new stage %j are %s: only words for the end itself say how they ended', (name, kind) => {
	expect(stageNamed(name)).toEqual({ name, kind });
});

test.each([
	['acme.com', 'acme.com'], ['acme.co.uk', 'acme.co.uk'], ['domain:v1.beta', 'v1.beta'], ['v1.beta', undefined], ['node.js', undefined],
])(
	'a new company %j has the domain %j: a dot alone makes none',
	(text, domain) => expect(valuesNamed('companies', text)?.domain).toBe(domain),
);

test('links by IDs of the other system lead to records that an earlier file of the same run has created', async () => {
	const [first, second] = ['Id,Name,ParentId\n1,A,8\n2,B,9\n', 'Id,Name,Parent Company,ParentId\n3,C,Gone,1\n'];
	const setup = await setupOf(first, {
		kind: 'company', importAs: 'upsert', matchOn: 'external_id', sourceName: 'series', binaryField: '={{ $json.file }}',
		options: { refusedValues: 'leaveOut' },
	});
	const files = { ...setup.files, second: await store.put(second) };
	await run({ ...setup, files, items: [{ file: 'data' }, { file: 'second' }] });
	const [parent] = await sandbox.list('companies?external_id=series:1');
	expect(await sandbox.list('companies?external_id=series:3')).toMatchObject([{ parent_company_id: parent!.id }]);
});

test('links by IDs of the other system lead to records that earlier rows of a long file have created', async () => {
	const csv = 'Id,Name,ParentId,Other\n1,A,2,\n2,B,,\n';
	const long = Array.from({ length: 15 }, (_, i) => `${i + 10},Long ${i},,${'x'.repeat(300_000)}\n`).join('');
	const choice = { kind: 'company', importAs: 'upsert', matchOn: 'external_id', sourceName: 'long' };
	const { json } = await importOf(`${csv}${long}3,C,2,\n`, choice);
	expect(json).toMatchObject({ rows: 18, created: 17, failed: 1 });
	const [parent] = await sandbox.list('companies?external_id=long:2');
	expect(await sandbox.list('companies?external_id=long:3')).toMatchObject([{ parent_company_id: parent!.id }]);
});
