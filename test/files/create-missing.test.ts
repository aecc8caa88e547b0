import type { IDataObject } from 'n8n-workflow';

import { alteredService } from '../support/altered-service.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns, rowsOf } from '../support/file-runs.ts';
import { failure } from '../support/node-runs.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const service = alteredService(sandbox, true);
const store = useBinaryStore();
const { importOf, setupOf } = fileRuns(sandbox, store);

describe('what is missing', () => {
	const rows = ['A,Missing GmbH,Fresh,nobody@owner.example', 'B,MÌSSING gmbh,"fresh,Other",', 'C,missing.example,,', 'D,Twice Ltd,,'];
	const csv = `Last Name,Company,Tags,Owner\n${rows.join('\n')}\n`;
	const options = { createMissing: ['companies', 'tags'], otherOwner: '' };
	const count = async (path: string) => (await sandbox.list(`${path}?limit=100`)).length;
	beforeAll(async () => {
		for (const external_id of ['twice-1', 'twice-2']) await sandbox.create('companies', { name: 'Twice Ltd', external_id });
		options.otherOwner = String((await sandbox.first('users')).email);
	});

	test('is refused, unless the user chooses to create it; the preview lists it', async () => {
		expect((await importOf(csv)).json).toMatchObject({ created: 0, failed: 4 });
		const before = [await count('companies'), await count('tags')];
		const { json } = await importOf(csv, { preview: true, options });
		const message = expect.stringContaining('may match several records') as string;
		expect(json).toMatchObject({ ready: 3, failed: 1, reasons: [{ row: 5, message }] });
		expect(json.created_besides).toEqual([
			{ records: 'companies', count: 2, names: ['Missing GmbH', 'missing.example'] },
			{ records: 'tags', count: 2, names: ['Fresh', 'Other'] },
		]);
		expect([await count('companies'), await count('tags')]).toEqual(before);
		const { json: imported, done } = await importOf(csv, { options });
		expect(imported).toMatchObject({ created: 3, failed: 1 });
		expect([await count('companies'), await count('tags')]).toEqual([before[0]! + 2, before[1]! + 2]);
		const [a, b, c] = await Promise.all(rowsOf(done).map(async ({ import_id: id }) => await sandbox.read(`contacts/${id}`)));
		expect(a!.owner_id).toBe((await sandbox.first('users')).id);
		expect(a!.company_id).toBe(b!.company_id);
		expect(await sandbox.read(`companies/${String(c!.company_id)}`)).toMatchObject({ domain: 'missing.example' });
		expect(b!.tag_ids).toHaveLength(2);
	});

	test('is not created for a row that is refused', async () => {
		const header = 'Deal Name,Amount,Company,Pipeline,Stage,Owner';
		const ofNobody = 'B,1,Orphan Ltd,Orphans,Adopted,Nobody Known';
		const refusedRows = [header, 'A,much,Orphan Ltd,Orphans,Adopted,', ',1,Orphan Ltd,Sales,Adopted,', ofNobody].join('\n');
		const choice = { kind: 'deal', options: { createMissing: ['companies', 'pipelines'] } };
		for (const preview of [true, false]) {
			const { json } = await importOf(`${refusedRows}\n`, { ...choice, preview });
			const reasons = ['amount', 'title', 'owner_id'].map((field) => ({ field }));
			expect(json).toMatchObject({ failed: 3, created_besides: [], reasons });
		}
		expect(await sandbox.list('companies?name=Orphan Ltd')).toEqual([]);
		const ofBoth = await importOf(`${refusedRows}\nC,1,Orphan Ltd,Sales,Adopted,\n`, choice);
		const besides = [{ names: ['Orphan Ltd'] }, { names: ['Sales: Adopted (open)'] }];
		expect(ofBoth.json).toMatchObject({ created: 1, failed: 3, created_besides: besides });
	});

	test('leaves the stage of a pipeline that is left out', async () => {
		const stages = ['open', 'won', 'lost'].map((kind) => ({ name: `Only ${kind}`, kind }));
		const pipeline = await sandbox.create('pipelines', { name: 'Elsewhere', stages });
		const options = { refusedValues: 'leaveOut' };
		const { json, done } = await importOf('Deal Name,Pipeline,Stage\nLost,#N/A,Only open\n', { kind: 'deal', options });
		expect(json).toMatchObject({ created: 1, failed: 0 });
		expect((await sandbox.read(`deals/${rowsOf(done)[0]!.import_id}`)).pipeline_id).not.toBe(pipeline.id);
	});

	test('is not created from what may be an ID of the other system, unless it says that it is a name', async () => {
		const ofCompany = (text: string) => `Last Name,Company\nA,${text}\n`;
		const { hints } = await importOf(ofCompany('F-0019'), { preview: true });
		expect(hints.join()).not.toContain('Create What Is Missing');
		const { json } = await importOf(ofCompany('F-0019'), { options });
		expect(json).toMatchObject({ created: 0, reasons: [{ message: expect.stringContaining('it may be an ID') as string }] });
		const map = { options: { ...options, valuesIn: { notation: { valueMap: 'F-0019 → name:F-0019' } } } };
		expect((await importOf(ofCompany('F-0019'), map)).json).toMatchObject({ created: 1 });
		expect(await sandbox.list('companies?name=F-0019')).toHaveLength(1);
	});

	test('is not created in a link to what the file itself imports', async () => {
		const csv = 'Name,Parent Company\nChild Ltd,Later Holding\nLater Holding,\n';
		const { json } = await importOf(csv, { kind: 'company', options });
		const message = expect.stringMatching('“Later Holding”.* may be in another row of this file: import it first') as string;
		const refused = { failed: 1, created_besides: [], reasons: [{ row: 2, field: 'parent_company_id', message }] };
		expect(json).toMatchObject({ created: 1, ...refused });
		expect(await sandbox.list('companies?name=Later Holding')).toHaveLength(1);
		const leaveOut = { kind: 'company', options: { ...options, refusedValues: 'leaveOut' } };
		expect((await importOf(csv.replaceAll('Later', 'Last'), leaveOut)).json).toMatchObject({ created: 1, failed: 1 });
		const [last] = await sandbox.list('companies?name=Last Holding');
		const update = await importOf(`ID,Parent Company\n${last!.id},Besides Ltd\n`, { kind: 'company', importAs: 'update', options });
		expect(update.json).toMatchObject({ updated: 1, failed: 0, created_besides: [{ names: ['Besides Ltd'] }] });
	});

	test('is tried again for later rows after the CRM has refused it once', async () => {
		await sandbox.faults({ path: '/v1/companies', method: 'POST', times: 1, status: 403 });
		const { json } = await importOf(`Last Name,Company,Other\nA,Flaky,\nB,,${'x'.repeat(300_000)}\nC,Flaky,\n`, { options });
		expect(json).toMatchObject({ created: 2, failed: 1, created_besides: [{ names: ['Flaky'] }] });
	});

	test.each([['without', 1], ['with', 2]])('%s keys, a company that may have been created is sent %i times', async (keys, times) => {
		let isFirst = true;
		service.alter({
			answer(text, { method, url }) {
				if (keys === 'without' && url.pathname.endsWith('/openapi.json')) return text.replaceAll('Idempotency-Key', 'Other');
				if (method !== 'POST' || url.pathname !== '/v1/companies' || !isFirst) return text;
				isFirst = false;
				return '{}';
			},
			// The list is behind.
			request: ({ method, url }) =>
				(method === 'GET' && url.pathname === '/v1/companies' ? { status: 200, body: '{"data":[],"next_cursor":null,"total":0}' } : undefined),
		});
		const csv = `Last Name,Company,Other\nA,Unsure ${keys},\nB,,${'x'.repeat(300_000)}\nC,Unsure ${keys},\n`;
		const { json } = await importOf(csv, { options }, { credential: service.credential });
		expect(json).toMatchObject({ created: times, failed: 3 - times });
		expect(service.passed.filter((request) => request === 'POST /v1/companies')).toHaveLength(times);
		expect(await sandbox.list(`companies?name=Unsure ${keys}`)).toHaveLength(1);
	});

	test('among fields becomes custom fields of fitting types, and choices, which the preview shows first', async () => {
		const field = { resource: 'contacts', key: 'plan', label: 'Plan', type: 'select', options: [{ value: 'basic', label: 'Basic' }] };
		await sandbox.create('custom-fields', field);
		await sandbox.create('custom-fields', { ...field, key: 'plans', label: 'Plans', type: 'multi_select' });
		// A number with more digits than can be sent and a day that does not exist are texts.
		const columns = 'Last Name,Shoe Size,Since,Hobbies,Code,Latitude,Day,Plan,Plans\n';
		const first = 'A,44,2020-01-31,"Chess, tea",007,52.52000659999999999,2026-02-30,Basic,"x, basic"';
		const people = `${columns}${first}\nB,37.5,2021-02-01,,12,5,2026-01-01,,X\nC,38,,,12,5,,A B,\nD,,,,,,,"A,B",\n`;
		const choice = { options: { createMissing: ['choices', 'customFields'] } };
		const preview = await importOf(people, { ...choice, preview: true });
		// Commas separate choices, so none has any.
		expect(preview.json).toMatchObject({ ready: 3, failed: 1, reasons: [{ row: 5, field: 'custom_fields.plan' }] });
		const texts = ['Hobbies', 'Code', 'Latitude', 'Day'].map((name) => `${name}: Text`);
		expect(preview.json.created_besides).toEqual([
			{ records: 'custom fields', count: 6, names: ['Shoe Size: Number', 'Since: Date', ...texts] },
			{ records: 'choices of Plan', count: 1, names: ['A B'] },
			{ records: 'choices of Plans', count: 1, names: ['x'] },
		]);
		const since = { column: 'Since', field: 'custom_fields.since', why: 'A new custom field: Date' };
		expect(preview.json.columns).toContainEqual(expect.objectContaining(since));
		const twice = await setupOf(people.replace('Code', 'Since'), choice);
		expect((await failure(twice)).message).toContain('the column “Since” twice');
		expect(await sandbox.list('custom-fields?resource=contacts&key=shoe_size')).toEqual([]);
		const { json, done } = await importOf(people, choice);
		expect(json).toMatchObject({ created: 3, failed: 1 });
		const [a, b, c] = await Promise.all(rowsOf(done).map(async ({ import_id: id }) => await sandbox.read(`contacts/${id}`)));
		expect(a!.custom_fields).toMatchObject({ shoe_size: 44, since: '2020-01-31', hobbies: 'Chess, tea', code: '007' });
		expect(a!.custom_fields).toMatchObject({ plan: 'basic', plans: ['x', 'basic'] });
		expect(b!.custom_fields).toMatchObject({ shoe_size: 37.5, plans: ['x'] });
		expect(c!.custom_fields).toMatchObject({ plan: 'A B' });
		expect((await importOf(people, choice)).json).toMatchObject({ created: 3, created_besides: [] });
	});

	test('among fields goes into the same custom fields again, also from columns whose long names begin alike', async () => {
		const [speed, price] = ['[Speed]', '[Price]'].map((row) => `${'How satisfied are you? '.repeat(5)}${row}`);
		const choice = { options: { createMissing: ['customFields'] } };
		await importOf(`Last Name,${speed},${price}\nAsked,1,2\n`, choice);
		const { json } = await importOf(`Last Name,${price},${speed}\nAsked,2,1\n`, choice);
		expect(json).toMatchObject({ created: 1, created_besides: [] });
		const [first, second] = await sandbox.list('contacts?last_name=Asked');
		expect(second!.custom_fields).toEqual(first!.custom_fields);
	});

	test('among fields is found by the next execution, which sends the same rows under Write Once Per', async () => {
		// Objects put members such as 2024 first.
		const rows = 'Last Name,Cap Size,2024,First Name\nHatter,59,7,Mad\n';
		const choice = { options: { createMissing: ['customFields'], writeOncePer: 'caps' } };
		for (let attempt = 1; attempt <= 2; attempt += 1) expect((await importOf(rows, choice)).json).toMatchObject({ created: 1, failed: 0 });
		expect(await sandbox.list('contacts?last_name=Hatter')).toHaveLength(1);
	});

	test('becomes no custom fields of records that cannot have any', async () => {
		const choice = { kind: 'tag', options: { createMissing: ['choices', 'customFields'] } };
		expect((await importOf('Name,Shoe Size\nBarefoot,44\n', choice)).json).toMatchObject({ created: 1, failed: 0, created_besides: [] });
	});

	test.each<[string, IDataObject, string]>([
		['the preview', { preview: '={{ $json.first }}' }, 'Preview: the expression returns true for item 0, but false for item 1'],
		['the owner', { options: { otherOwner: '={{ $json.first }}' } }, 'Owner for the Others: the expression returns true'],
	])('is not taken from %s of one file for the import of another', async (_, more, problem) => {
		const setup = await setupOf('Last Name,Company\nA,Assumed\n', { options, ...more }, { items: [{ first: true }, { first: false }] });
		await sandbox.clear();
		expect((await failure(setup)).message).toContain(problem);
		expect(await sandbox.writes()).toEqual([]);
	});

	test('is not created again by another import, and a wrong owner stops it before anything is written', async () => {
		const before = [await count('companies'), await count('tags')];
		expect((await importOf(csv, { options })).json).toMatchObject({ created: 3, created_besides: [] });
		expect([await count('companies'), await count('tags')]).toEqual(before);
		const wrong = await setupOf(csv, { options: { ...options, otherOwner: 'nobody@nowhere.example' } });
		expect((await failure(wrong)).message).toContain('Owner for the Others: no single user is “nobody@nowhere.example”');
	});
});
