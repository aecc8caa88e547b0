import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { failure, run } from '../support/node-runs.ts';
import { byId, getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const timezone = 'America/New_York';

const setup = (rows: IDataObject[], items: IDataObject[] = [{}], resource = 'contact') => ({
	credential: sandbox.credential,
	parameters: { ...getMany(resource), filters: { rows } } as INodeParameters,
	items,
	timezone,
});
/** The query of the request for the list. */
const queryOf = async (...rows: IDataObject[]) => {
	await run(setup(rows));
	const list = (await sandbox.requests()).findLast(({ path }) => path === '/v1/contacts');
	const query = new URLSearchParams(list?.query);
	query.delete('limit');
	return Object.fromEntries(query);
};
const row = (field: string, operator: string, more: IDataObject = {}) => ({ field, operator, ...more });
const day = '2026-03-08';

describe('a row filters by', () => {
	test.each<[IDataObject, IDataObject]>([
		[row('email', 'is', { value: 'a@b.example' }), { email: 'a@b.example' }],
		[row('email', 'isOneOf', { value: 'a@b.example, c@d.example' }), { email: 'a@b.example,c@d.example' }],
		[row('lifecycle_stage', 'is', { value: 'Sales Qualified' }), { lifecycle_stage: 'sales_qualified' }],
		[
			row('lifecycle_stage', 'isOneOfChoices', { choices: ['lead', 'customer'] }),
			{ lifecycle_stage: 'lead,customer' },
		],
		[row('job_title', 'contains', { value: 'chief' }), { 'job_title[contains]': 'chief' }],
		[row('job_title', 'startsWith', { value: 'VP' }), { 'job_title[starts_with]': 'VP' }],
		[row('job_title', 'isEmpty'), { 'job_title[empty]': 'true' }],
		[row('owner_id', 'isNotEmpty'), { 'owner_id[empty]': 'false' }],
		[row('custom_fields.nps_score', 'isAtLeast', { value: '7' }), { 'custom_fields.nps_score[gte]': '7' }],
		[row('custom_fields.nps_score', 'isMoreThan', { value: 7 }), { 'custom_fields.nps_score[gt]': '7' }],
		[row('custom_fields.nps_score', 'isAtMost', { value: '7' }), { 'custom_fields.nps_score[lte]': '7' }],
		[row('custom_fields.nps_score', 'isLessThan', { value: '7' }), { 'custom_fields.nps_score[lt]': '7' }],
		[
			row('custom_fields.nps_score', 'isBetween', { value: '7', secondValue: '9' }),
			{ 'custom_fields.nps_score[gte]': '7', 'custom_fields.nps_score[lte]': '9' },
		],
		[
			row('custom_fields.contract_tier', 'isOneOf', { value: 'Gold, Silver' }),
			{ 'custom_fields.contract_tier': 'gold,silver' },
		],
		[
			row('custom_fields.contract_tier', 'isOneOfChoices', { choices: ['gold', 'silver'] }),
			{ 'custom_fields.contract_tier': 'gold,silver' },
		],
		[row('custom_fields.vip', 'isTrue'), { 'custom_fields.vip': 'true' }],
		[row('custom_fields.vip', 'isFalse'), { 'custom_fields.vip': 'false' }],
		[row('custom_fields.customer_number', 'contains', { value: 'K-' }), { 'custom_fields.customer_number[contains]': 'K-' }],
		[row('custom_fields.customer_number', 'isEmpty'), { 'custom_fields.customer_number[empty]': 'true' }],
		[row('created_at[gte]', 'is', { value: '2026-03-08T01:00:00Z' }), { 'created_at[gte]': '2026-03-08T01:00:00.000Z' }],
		[row('created_at[gte]', 'is', { value: day }), { 'created_at[gte]': '2026-03-08T05:00:00.000Z' }],
		[row('created_at[lte]', 'is', { value: day }), { 'created_at[lt]': '2026-03-09T04:00:00.000Z' }],
		[row('created_at[gt]', 'is', { value: day }), { 'created_at[gte]': '2026-03-09T04:00:00.000Z' }],
	])('%j', async (filterRow, query) => {
		expect(await queryOf(filterRow)).toEqual(query);
	});

	// The day has 23 hours: clocks are put forward.
	test.each<[string, IDataObject, IDataObject]>([
		['isOn', { date: day }, { 'created_at[gte]': '2026-03-08T05:00:00.000Z', 'created_at[lt]': '2026-03-09T04:00:00.000Z' }],
		['isAfter', { date: day }, { 'created_at[gte]': '2026-03-09T04:00:00.000Z' }],
		['isOnOrBefore', { date: '9999-12-31' }, { 'created_at[lt]': '9999-12-31T23:59:59.999Z' }],
		['isOnOrAfter', { date: day }, { 'created_at[gte]': '2026-03-08T05:00:00.000Z' }],
		['isBefore', { date: day }, { 'created_at[lt]': '2026-03-08T05:00:00.000Z' }],
		['isOnOrBefore', { date: day }, { 'created_at[lt]': '2026-03-09T04:00:00.000Z' }],
		[
			'isBetweenDates',
			{ date: '2026-03-01', secondDate: day },
			{ 'created_at[gte]': '2026-03-01T05:00:00.000Z', 'created_at[lt]': '2026-03-09T04:00:00.000Z' },
		],
		['isAfter', { date: '2026-03-08T12:00:00Z' }, { 'created_at[gt]': '2026-03-08T12:00:00.000Z' }],
		['isOnOrBefore', { date: '={{ "2026-03-08T12:00:00Z" }}' }, { 'created_at[lte]': '2026-03-08T12:00:00.000Z' }],
		// Midnight in the workflow's time zone is the day, unless *Is After* takes a text with a zone of its own: that is a moment.
		[
			'isOn', { date: '={{ DateTime.fromISO("2026-03-08", { zone: "America/New_York" }) }}' },
			{ 'created_at[gte]': '2026-03-08T05:00:00.000Z', 'created_at[lt]': '2026-03-09T04:00:00.000Z' },
		],
		[
			'isOn', { date: '2026-03-08T00:00:00' }, { 'created_at[gte]': '2026-03-08T05:00:00.000Z', 'created_at[lt]': '2026-03-09T04:00:00.000Z' },
		],
		['isAfter', { date: '2026-03-08T05:00:00Z' }, { 'created_at[gt]': '2026-03-08T05:00:00.000Z' }],
		['isOnOrBefore', { date: '2026-03-08T00:00:00-05:00' }, { 'created_at[lt]': '2026-03-09T04:00:00.000Z' }],
		[
			'isOn', { date: '2026-03-08T00:00:00-05:00' },
			{ 'created_at[gte]': '2026-03-08T05:00:00.000Z', 'created_at[lt]': '2026-03-09T04:00:00.000Z' },
		],
		['isBefore', { date: '2026-03-08T00:00:00-05:00' }, { 'created_at[lt]': '2026-03-08T05:00:00.000Z' }],
		[
			'isBetweenDates',
			{ date: '2026-03-01', secondDate: '2026-03-08T05:00:00Z' },
			{ 'created_at[gte]': '2026-03-01T05:00:00.000Z', 'created_at[lt]': '2026-03-09T04:00:00.000Z' },
		],
		['isAfter', { date: '2026-03-08T00:00:00Z' }, { 'created_at[gt]': '2026-03-08T00:00:00.000Z' }],
	])('a time that %s, by days of the workflow’s time zone or to the moment', async (operator, dates, query) => {
		expect(await queryOf(row('created_at', operator, dates))).toEqual(query);
	});

	test.each([
		['isOn', { 'custom_fields.renewal_date[gte]': day, 'custom_fields.renewal_date[lte]': day }],
		['isAfter', { 'custom_fields.renewal_date[gt]': day }],
	])('a date that %s, as it is', async (operator, query) => {
		expect(await queryOf(row('custom_fields.renewal_date', operator, { date: day }))).toEqual(query);
	});

	test('the name of a company, a tag or an owner, or the domain', async () => {
		const [company, tag, user] = await Promise.all(['companies', 'tags', 'users'].map(sandbox.first));
		const query = await queryOf(
			row('company_id', 'is', { value: company!.name }),
			row('tag_ids', 'isOneOf', { value: [tag!.name] }),
			row('owner_id', 'is', { value: user!.email }),
		);
		expect(query).toEqual({ company_id: company!.id, tag_ids: tag!.id, owner_id: user!.id });
	});

	test('a linked record that is picked, named, or one of several from an expression', async () => {
		const [[company, other], owner] = [await sandbox.list('companies?limit=2'), await sandbox.first('users')];
		const both = [company!.id, other!.id];
		const list = (value: unknown) => ({ record: { __rl: true, mode: 'list', value } });
		expect(await queryOf(row('company_id', 'isRecord', list(company!.id)))).toEqual({ company_id: company!.id });
		expect(await queryOf(row('company_id', 'isRecord', { record: byId(String(company!.name)) }))).toEqual({ company_id: company!.id });
		expect(await queryOf(row('owner_id', 'isRecord', { record: `={{ "${String(owner.email)}" }}` }))).toEqual({ owner_id: owner.id });
		const several = { value: `={{ ${JSON.stringify(both)} }}` };
		expect(await queryOf(row('company_id', 'isOneOf', several))).toEqual({ company_id: both.join() });
	});

	test('an ID that was picked, even if another record has it as its name', async () => {
		const company = await sandbox.create('companies', { name: 'Fjord' });
		await sandbox.create('companies', { name: 'acme' });
		const picked = { record: { __rl: true, mode: 'list', value: 'acme' } };
		expect(await queryOf(row('company_id', 'isRecord', picked))).toEqual({ company_id: 'acme' });
		expect(await queryOf(row('company_id', 'isOneOfChoices', { choices: ['acme', company.id] }))).toEqual({
			company_id: `acme,${company.id}`,
		});
	});

	test.each([['is', 1], ['isOneOf', 2]])('stages by their names, within the pipeline of another row: %s', async (operator, count) => {
		const pipeline = await sandbox.first('pipelines');
		const stages = (pipeline.stages as IDataObject[]).slice(0, count);
		const value = stages.map(({ name }) => name).join(', ');
		await run(setup([row('stage_id', operator, { value }), row('pipeline_id', 'is', { value: pipeline.name })], [{}], 'deal'));
		const list = (await sandbox.requests()).find(({ path }) => path === '/v1/deals');
		const query = { stage_id: stages.map(({ id }) => id).join(), pipeline_id: pipeline.id };
		expect(Object.fromEntries(new URLSearchParams(list?.query))).toMatchObject(query);
	});

	test('values, fields and operators of its item', async () => {
		const rows = [row('={{ $json.field }}', '={{ $json.how }}', { value: '={{ $json.operand }}' })];
		await run(
			setup(rows, [
				{ field: 'job_title', how: 'contains', operand: 'chief' },
				{ field: 'custom_fields.nps_score', how: 'isAtLeast', operand: 7 },
			]),
		);
		const lists = (await sandbox.requests()).filter(({ path }) => path === '/v1/contacts');
		expect(lists.map(({ query }) => decodeURIComponent(query ?? '').split('&')[0])).toEqual([
			'job_title[contains]=chief',
			'custom_fields.nps_score[gte]=7',
		]);
	});
});

describe('a row that is not understood is refused:', () => {
	test.each<[IDataObject, string]>([
		[row('', 'is', { value: 'x' }), 'A filter has no field. Choose a field or remove the filter.'],
		[row('gone', 'is', { value: 'x' }), 'does not have the filter gone'],
		[
			row('email', 'like', { value: 'x' }),
			'Email: the CRM cannot filter this field by “like”. Choose another operator: Is, Is One Of, Contains, Starts With, Is Empty, Is Not Empty.',
		],
		[row('email', '={{ undefined }}', { value: 'x' }), 'Email: the filter’s operator is empty'],
		[row('email', '={{ null }}', { value: 'x' }), 'Email: the filter’s operator is empty'],
		[row('job_title', 'isMoreThan', { value: '3' }), 'Job Title: the CRM cannot filter this field by “Is More Than”'],
		[row('job_title', 'isOneOf', { value: 'a,b' }), 'by “Is One Of”'],
		[row('job_title', 'isTrue'), 'by “Is True”'],
		[row('avatar_url', 'is', { value: 'x' }), 'Avatar URL: the CRM cannot filter this field by “Is”'],
		[row('created_at', 'isAtLeast', { value: day }), 'by “Is at Least”'],
		[row('created_at', 'isAfter', { date: 'soon' }), 'Created At: “soon” is not a date'],
		[
			row('created_at', 'isOn', { date: '2026-03-08T12:00:00Z' }),
			'Created At: “Is On” takes a day, and 2026-03-08T08:00:00.000-04:00 is a time of day. Use a day such as 2026-03-08 or {{ $today }}',
		],
		[row('created_at', 'isBetweenDates', { date: day }), 'Created At: the filter has no value'],
		[row('custom_fields.nps_score', 'contains', { value: '7' }), 'NPS Score: the CRM cannot filter this field by “Contains”'],
		[row('email', 'is', { value: 'a@b.example, c@d.example' }), 'contains “,”'],
		[row('lifecycle_stage', 'isOneOfChoices', { choices: [] }), 'Lifecycle Stage: the filter has no value'],
		[
			row('lifecycle_stage', 'is', { value: 'Customers' }),
			'Lifecycle Stage: “Customers” is not one of: Lead, Marketing Qualified, Sales Qualified, ',
		],
		[row('custom_fields.contract_tier', 'isOneOf', { value: 'Gold, Platinum' }), 'Contract Tier: “Platinum” is not one of: '],
		[row('company_id', 'is', { value: 'No Such Company' }), 'does not match any record of companies'],
	])('%j', async (filterRow, words) => {
		expect((await failure(setup([filterRow]))).message).toContain(words);
		expect((await sandbox.requests()).filter(({ path }) => path === '/v1/contacts')).toEqual([]);
	});

	test('two rows that set the same parameter, a picked record among them', async () => {
		const rows = [row('job_title', 'contains', { value: 'a' }), row('job_title', 'contains', { value: 'b' })];
		expect((await failure(setup(rows))).message).toBe(
			'Job Title: two filters set job_title[contains], but the CRM accepts it only once. Keep one of them.',
		);
		const picked = row('company_id', 'isRecord', { record: byId('com_1') });
		const { message } = await failure(setup([picked, row('company_id', 'is', { value: 'com_2' })]));
		expect(message).toContain('Company: two filters set company_id');
	});
});
