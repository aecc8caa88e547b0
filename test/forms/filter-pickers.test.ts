import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { getFilterChoices, getFilterFields, getFilterOperators } from '../../nodes/CrmPlatform/pickers/filterPickers';
import { searchLinked } from '../../nodes/CrmPlatform/pickers/searchPickers';
import { CrmPlatformPollTrigger } from '../../nodes/CrmPlatform/CrmPlatformPollTrigger.node';
import { picker } from '../support/node-runs.ts';
import { byId } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();

describe('a row of filters offers', () => {
	const opened = (field: string, resource = 'contact', others: IDataObject[] = []) => ({
		credential: sandbox.credential,
		parameters: {
			resource,
			operation: 'getMany',
			filters: { rows: [{ field, operator: 'is' }, ...others] },
		} as INodeParameters,
		path: 'parameters.filters.rows[0].operator',
	});
	/** The form of the Poll Trigger. */
	const inScope = (field: string) => ({
		...opened(field),
		parameters: {
			source: 'records',
			resource: 'contact',
			recordFilters: { rows: [{ field, operator: 'is' }] },
		} as INodeParameters,
		path: 'parameters.recordFilters.rows[0].operator',
		node: new CrmPlatformPollTrigger(),
	});
	const operators = async (field: string) => (await picker(getFilterOperators, opened(field))).map(({ name }) => name);

	test('each field once, including custom fields, and no field that another parameter covers', async () => {
		const fields = await picker(getFilterFields, opened(''));
		const names = fields.map(({ name }) => name);
		expect(new Set(names).size).toBe(names.length);
		expect(fields[0]).toEqual({ name: 'Choose a Field', value: '' });
		expect(fields).toEqual(
			expect.arrayContaining([
				{ name: 'Job Title', value: 'job_title' },
				{ name: 'Avatar URL', value: 'avatar_url' },
				{ name: 'NPS Score', value: 'custom_fields.nps_score' },
			]),
		);
		const values = fields.map(({ value }) => value);
		for (const gone of ['cursor', 'limit', 'updated_since', 'updated_until', 'include_deleted']) {
			expect(values).not.toContain(gone);
		}
		expect(values).toContain('q');
		const valuesInScope = (await picker(getFilterFields, inScope(''))).map(({ value }) => value);
		expect(valuesInScope).toEqual(values.filter((value) => value !== 'q'));
	});

	test.each([
		['email', ['Is', 'Is One Of', 'Contains', 'Starts With', 'Is Empty', 'Is Not Empty']],
		['lifecycle_stage', ['Is', 'Is One Of', 'Is Empty', 'Is Not Empty']],
		['q', ['Matches']],
		['created_at', ['Choose an Operator', 'Is On', 'Is After', 'Is On or After', 'Is Before', 'Is On or Before', 'Is Between']],
		['updated_at', ['Choose an Operator', 'Is Before', 'Is On or Before']],
		['company_id', ['Is', 'Is (From List)', 'Is One Of', 'Is Empty', 'Is Not Empty']],
		['owner_id', ['Is', 'Is (From List)', 'Is One Of', 'Is Empty', 'Is Not Empty']],
		['avatar_url', ['Choose an Operator', 'Contains', 'Starts With', 'Is Empty', 'Is Not Empty']],
		['custom_fields.contract_tier', ['Is', 'Is One Of', 'Is Empty', 'Is Not Empty']],
		['custom_fields.vip', ['Choose an Operator', 'Is True', 'Is False', 'Is Empty', 'Is Not Empty']],
	])('for %s the operators it has, in words', async (field, names) => {
		expect(await operators(field)).toEqual(names);
	});

	test('several stages, like several pipelines', async () => {
		const { stages } = await sandbox.first('pipelines');
		for (const field of ['pipeline_id', 'stage_id']) {
			const offered = await picker(getFilterOperators, opened(field, 'deal'));
			expect(offered).toContainEqual(expect.objectContaining({ name: 'Is One Of', value: 'isOneOfChoices' }));
		}
		const [stage] = stages as IDataObject[];
		expect(await picker(getFilterChoices, opened('stage_id', 'deal'))).toContainEqual(expect.objectContaining({ value: stage!.id }));
	});

	test('case-sensitive or insensitive operators, as the CRM describes them', async () => {
		const [is] = await picker(getFilterOperators, opened('job_title'));
		expect(is).toEqual({ name: 'Is', value: 'is', description: 'Job Title is exactly this. Case matters.' });
	});

	test('the choices of the field, and linked records if there are few', async () => {
		expect(await picker(getFilterChoices, opened('lifecycle_stage'))).toContainEqual({ name: 'Customer', value: 'customer' });
		const tiers = await picker(getFilterChoices, opened('custom_fields.contract_tier'));
		expect(tiers.map(({ name }) => name)).toEqual(['Bronze', 'Silver', 'Gold']);
		const user = await sandbox.first('users');
		for (const form of [opened('owner_id'), inScope('owner_id')]) {
			expect(await picker(getFilterChoices, form)).toContainEqual(expect.objectContaining({ value: user.id }));
			const values = (await picker(getFilterOperators, form)).map(({ value }) => value);
			expect(values).toEqual(['is', 'isRecord', 'isOneOfChoices', 'isEmpty', 'isNotEmpty']);
		}
	});

	test('the records that a linked field can have, searched, and only the stages of the picked pipeline', async () => {
		const company = await sandbox.first('companies');
		for (const form of [opened('company_id'), inScope('company_id')]) {
			const { results } = await picker(searchLinked, form, String(company.name), undefined);
			expect(results).toContainEqual(expect.objectContaining({ value: company.id }));
		}
		const contact = await sandbox.create('contacts', { last_name: 'Onthehook' });
		const { results: hooks } = await picker(searchLinked, opened('linked_to: contacts', 'task'), 'Onthehook', undefined);
		expect(hooks).toMatchObject([{ value: contact.id }]);
		const pipeline = await sandbox.first('pipelines');
		const picked = { field: 'pipeline_id', operator: 'isRecord', record: byId(pipeline.id) };
		const { results } = await picker(searchLinked, opened('stage_id', 'deal', [picked]), undefined, undefined);
		expect(results.map(({ value }) => value)).toEqual((pipeline.stages as IDataObject[]).map(({ id }) => id));
	});
});
