import { NodeHelpers, type INode, type INodeParameters, type INodeProperties, type INodeType } from 'n8n-workflow';

import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { CrmPlatformSync } from '../../nodes/CrmPlatform/CrmPlatformSync.node';
import { getColumnFields, getFields, getFieldsToSet, getSyncFields } from '../../nodes/CrmPlatform/pickers/mapperFields';
import { nodeRuns, picker } from '../support/node-runs.ts';
import { useSandbox } from '../support/sandbox.ts';
import { syncOf } from '../support/sync-node.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);

type Values = Record<string, string | number | boolean>;

interface Form {
	node: INodeType;
	mapper: string;
	method: typeof getFields;
	parameters: INodeParameters;
}

const forms = {
	'of an action': (resource: string): Form => ({
		node: new CrmPlatform(),
		mapper: 'fields',
		method: getFields,
		parameters: { resource, operation: 'create', fieldsMode: 'each' },
	}),
	'of an import’s columns': (resource: string): Form => ({
		node: new CrmPlatform(),
		mapper: 'columns',
		method: getColumnFields,
		parameters: { resource: 'file', kind: resource, operation: 'importFile', importAs: 'create', columnsMode: 'each' },
	}),
	'of a sync': (resource: string): Form => ({
		node: new CrmPlatformSync(),
		mapper: 'fields',
		method: getSyncFields,
		parameters: { ...syncOf(resource), fieldsMode: 'each' },
	}),
	'of what a sync sets': (resource: string): Form => ({
		node: new CrmPlatformSync(),
		mapper: 'missingValues',
		method: getFieldsToSet,
		parameters: { ...syncOf(resource), missingInSource: 'set' },
	}),
};

/** The form as n8n loads it over the stored values. */
async function loaded({ node, mapper, method, parameters }: Form, value: Values, hasCredential = true) {
	const stored = { ...parameters, [mapper]: { mappingMode: 'defineBelow', value } };
	return await picker(method, { node, credential: sandbox.credential, parameters: stored, hasCredential });
}

/** The issues that n8n finds in the stored values, as when a workflow starts. */
async function issues(form: Form, value: Values): Promise<object> {
	const { node, mapper } = form;
	const { fields: schema } = await loaded(form, value);
	const { displayOptions: _, ...mapperProperty } = node.description.properties.find(({ name }) => name === mapper) as INodeProperties;
	const parameters = { [mapper]: { mappingMode: 'defineBelow', value, schema } } as unknown as INodeParameters;
	return NodeHelpers.getParameterIssues(mapperProperty, parameters, '', { parameters } as INode, null).parameters ?? {};
}

describe.each(Object.entries(forms))('a form %s accepts', (_, formOf) => {
	test.each<[string, string, Values]>([
		['names that were typed before it had lists', 'contact', { company_id: 'Riverbend Freight AB', owner_id: 'Emily Carter' }],
		['names of pipelines and stages', 'deal', { pipeline_id: 'Sales', stage_id: 'Won', owner_id: 'Emily Carter', company_id: 'Altamira' }],
		['records that were deleted, or are of another account', 'deal', { company_id: 'com_gone', stage_id: 'stg_gone' }],
		[
			'choices by their labels, removed ones, and blanks', 'contact',
			{ lifecycle_stage: 'Customer', 'custom_fields.tier': 'Platinum', owner_id: '' },
		],
		['values for fields of other kinds', 'task', { assignee_id: 'Emily Carter', due_at: 'next Tuesday', priority: 3 }],
		['yes and no', 'contact', { 'custom_fields.vip': 'yes' }],
	])('%s', async (_name, resource, value) => {
		expect(await issues(formOf(resource), value)).toEqual({});
	});

	test('values that were filled in while the CRM could not be reached', async () => {
		const { fields } = await loaded(formOf('contact'), { 'custom_fields.vip': 'yes' }, false);
		const removed = formOf('contact').mapper === 'missingValues';
		expect(fields).toContainEqual(expect.objectContaining({ id: 'custom_fields.vip', type: 'string', removed }));
	});
});

test('a name that a list does not have is shown in it, beside the records', async () => {
	const form = forms['of an action']('contact');
	const optionsOf = async (value: Values) => (await loaded(form, value)).fields.find(({ id }) => id === 'owner_id')?.options ?? [];
	const records = await optionsOf({});
	const [record] = records;
	expect(await optionsOf({ owner_id: 'Emily' })).toEqual([...records, { name: 'Emily', value: 'Emily' }]);
	expect(await optionsOf({ owner_id: record!.value })).toEqual(records);
	expect(await optionsOf({ owner_id: '={{ $json.owner }}' })).toEqual(records);
});

test('a name typed before the form had a list is found when the node runs', async () => {
	const company = await sandbox.create('companies', { name: 'Riverbend Freight' });
	const form = forms['of an action']('contact');
	const value = { last_name: 'Moreno', company_id: 'Riverbend Freight' };
	const { fields: schema } = await loaded(form, value);
	const parameters = { ...form.parameters, fields: { mappingMode: 'defineBelow', value, schema } } as unknown as INodeParameters;
	const { items } = await run(parameters, [{}]);
	expect(items[0]?.json).toMatchObject({ company_id: company.id });
});
