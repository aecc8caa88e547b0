import { NodeHelpers, type INode, type INodeParameters, type INodeProperties, type INodePropertyOptions } from 'n8n-workflow';

import document from '../../contract/openapi.json';
import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { CrmPlatformAdmin } from '../../nodes/CrmPlatform/CrmPlatformAdmin.node';
import { CrmPlatformSync } from '../../nodes/CrmPlatform/CrmPlatformSync.node';
import { CrmPlatformTools } from '../../nodes/CrmPlatform/CrmPlatformTools.node';
import { describeResource } from '../../nodes/CrmPlatform/api/openapi/description';
import { parseOpenApi } from '../../nodes/CrmPlatform/api/openapi/openapi';
import { resources } from '../../nodes/CrmPlatform/resources';
import { getFields } from '../../nodes/CrmPlatform/pickers/mapperFields';
import { getFilterFields } from '../../nodes/CrmPlatform/pickers/filterPickers';
import { getEvents, getOutputFields, getSortOrders } from '../../nodes/CrmPlatform/pickers/listOptions';
import { workflowIn } from '../support/node-context.ts';
import { failure, parts, picker } from '../support/node-runs.ts';
import { create } from '../support/parameters.ts';
import { fieldsById, openedNodes } from '../support/opened-nodes.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const setup = openedNodes(sandbox);

describe('a node that cannot reach the CRM', () => {
	const isFormOf = async (opened: Parameters<typeof picker>[1], says: string) => {
		const { fields } = await picker(getFields, opened);
		expect(fieldsById(fields).first_name).toMatchObject({ displayName: 'First Name', type: 'string' });
		expect(fields[0]).toMatchObject({ readOnly: true, displayName: expect.stringContaining(says) });
		// n8n asks again for what lacks it, when the node is opened the next time.
		expect(fieldsById(fields).first_name?.readOnly).toBeUndefined();
		expect(await picker(getFilterFields, opened)).toContainEqual({ name: 'Email', value: 'email' });
		expect(await picker(getSortOrders, opened)).not.toEqual([]);
		expect(await picker(getOutputFields, opened)).not.toEqual([]);
	};

	test('shows a form while it has no credential', async () => {
		await isFormOf({ ...setup(), hasCredential: false }, 'beforeCredential');
	});

	test('shows a notice that fields are missing until they are loaded', async () => {
		const { fields: schema } = await picker(getFields, { ...setup(), hasCredential: false });
		const { fields: loaded } = await picker(getFields, setup());
		const notice = new CrmPlatform().description.properties.find(({ name }) => name === 'fieldsMissingNotice')!;
		const isShown = (fieldSchema: object[]) => {
			const { parameters } = setup();
			const values = { ...parameters, fieldsMode: 'each', fields: { mappingMode: 'defineBelow', value: null, schema: fieldSchema } };
			return NodeHelpers.displayParameter(values, notice, null, null);
		};
		expect([schema, loaded, []].map(isShown)).toEqual([true, false, false]);
		expect(schema[0]).toMatchObject({ display: false });
	});

	test('in which records that cannot be listed yet are entered by name, until the CRM tells how many there are', async () => {
		const [before, after] = [
			await picker(getFields, { ...setup('deal'), hasCredential: false }),
			await picker(getFields, setup('deal')),
		].map(({ fields }) => fieldsById(fields));
		for (const name of ['pipeline_id', 'stage_id', 'owner_id', 'company_id']) {
			expect(before?.[name]).toMatchObject({ type: 'string', removed: false });
		}
		expect(after).toMatchObject({ stage_id: { type: 'options', removed: false }, company_id: { type: 'options' } });
	});

	test('in which a field that was filled in remains when the others are hidden', async () => {
		const { parameters } = setup();
		const opened = { ...setup(), parameters: { ...parameters, fields: { value: { company_id: 'Altamira' } } } };
		const { fields } = await picker(getFields, opened);
		expect(fieldsById(fields).company_id).toMatchObject({ removed: false });
	});

	test('shows a form while its OAuth2 credential is not connected', async () => {
		const data = { baseUrl: sandbox.url };
		const credential = { id: 'credential-2', data } as never;
		await isFormOf({ ...setup(), credential }, 'Standard fields only (The credential is not connected yet)');
	});

	test('shows a form if the CRM refuses its key', async () => {
		const credential = { ...sandbox.credential, apiKey: 'wrong' };
		await isFormOf({ ...setup(), credential }, 'Custom fields could not be loaded');
	});

	test('shows the form of the packaged description if the CRM has none', async () => {
		const credential = { ...sandbox.credential, descriptionUrl: `${sandbox.url}/v1/contacts/none` };
		await isFormOf({ ...setup(), credential }, 'packaged with the node');
	});

	test('offers events', async () => {
		expect(await picker(getEvents, { ...setup(), hasCredential: false })).toContainEqual(
			expect.objectContaining({ name: 'All Deal Events', value: 'deal.*' }),
		);
	});
});

describe('a form', () => {
	const visibleFields = async (operation: string, resource = 'contact') => {
		const { fields } = await picker(getFields, setup(resource, operation));
		return fields.filter(({ removed }) => !removed);
	};

	test.each(['create', 'update', 'upsert'])('to %s begins with the fields people use most', async (operation) => {
		const ids = (await visibleFields(operation)).map(({ id }) => id);
		expect(ids).toEqual(expect.arrayContaining(['first_name', 'last_name', 'email']));
		expect(ids.length).toBeLessThanOrEqual(12);
	});

	test('begins with the fields that the CRM requires', async () => {
		const { fields } = await picker(getFields, setup('task'));
		const required = fields.filter(({ displayName }) => displayName.includes('(Required'));
		expect(required.length).toBeGreaterThan(0);
		expect(fields.slice(0, required.length)).toEqual(required);
		for (const { removed } of required) expect(removed).toBe(false);
	});

	// n8n 2.41 mounts the form a second time where the operation is switched, and then hides what is not required.
	test('marks its initial fields, whatever is filled in', async () => {
		const marked = async (value?: INodeParameters) => {
			const { parameters, ...more } = setup('contact', 'create');
			const { fields } = await picker(getFields, { ...more, parameters: { ...parameters, ...(value && { fields: { value } }) } });
			return fields.filter(({ required }) => required).map(({ id }) => id);
		};
		const first = await marked();
		expect(first).toEqual((await visibleFields('create')).map(({ id }) => id));
		expect(await marked({ language: 'es' })).toEqual(first);
	});

	test.each(['task', 'note'])('leaves out fields that are picked under Linked Records: %s', async (resource) => {
		expect((await visibleFields('create', resource)).map(({ id }) => id)).not.toContain('links');
	});

	test('shows no required field as an error before anything is entered', async () => {
		const mappers = new CrmPlatform().description.properties.filter(({ type }) => type === 'resourceMapper');
		const { fields: schema } = await picker(getFields, setup('task'));
		expect(schema.some(({ required }) => required)).toBe(true);
		for (const mapper of mappers) {
			const { displayOptions: _, ...mapperProperty } = mapper;
			const opened = { [mapper.name]: { mappingMode: 'defineBelow', value: {}, matchingColumns: [], schema } } as unknown as INodeParameters;
			const node = { parameters: opened } as INode;
			expect(NodeHelpers.getParameterIssues(mapperProperty, opened, '', node, null).parameters ?? {}).toEqual({});
		}
	});

	test('without a required value fails, names the field, and sends nothing', async () => {
		await sandbox.clear();
		const { message } = await failure({ ...setup(), parameters: create('task', { description: 'Ring' }), items: [{}] });
		expect(message).toBe('Title is empty, so nothing was sent for this item. Enter a value.');
		expect(await sandbox.writes()).toEqual([]);
	});

	test.each([
		['create', true],
		['update', false],
	])('to %s requires the custom fields that new records need: %p', async (operation, required) => {
		const objectKey = { __rl: true, mode: 'list', value: 'machines' };
		const { parameters } = setup('customObjectRecord', operation);
		const { fields } = await picker(getFields, { ...setup(), parameters: { ...parameters, objectKey } });
		const displayName = required ? 'Serial Number (Required)' : 'Serial Number';
		expect(fields).toContainEqual(expect.objectContaining({ displayName }));
	});

	test('has no entry for all custom fields if there are none', async () => {
		const { fields } = await picker(getFields, setup('note'));
		expect(fieldsById(fields).custom_fields).toBeUndefined();
	});

	test('has an entry that can be added if they cannot be read', async () => {
		await sandbox.faults({ path: '/v1/custom-fields', times: 10, status: 403 });
		const { fields } = await picker(getFields, setup('note'));
		await sandbox.clear();
		expect(fieldsById(fields).custom_fields).toMatchObject({ displayName: 'Custom Fields (JSON)', removed: true });
	});

	test('of few fields shows all of them', async () => {
		const { fields } = await picker(getFields, setup('tag'));
		expect(await visibleFields('create', 'tag')).toHaveLength(fields.length);
	});
});

test('no form has two fields of one name', () => {
	for (const { description } of [new CrmPlatform(), new CrmPlatformAdmin(), new CrmPlatformSync(), new CrmPlatformTools()]) {
		const { properties } = description;
		const operations = properties.filter(({ name, options }) => name === 'operation' && options);
		const chosen = operations.flatMap(({ options, displayOptions }) =>
			(displayOptions?.show?.resource ?? ['contact']).filter((value) => typeof value === 'string').flatMap((resource) =>
				(options as INodePropertyOptions[]).map(({ value: operation }) => ({ resource, operation })),
			),
		);
		for (const choice of chosen.length > 0 ? chosen : [{}]) {
			const values = NodeHelpers.getNodeParameters(properties, choice, true, false, null, description)!;
			const isShown = (property: INodeProperties) =>
				property.type !== 'hidden' && NodeHelpers.displayParameter(values, property, null, description);
			const visibleProperties = properties.filter(isShown);
			const labels = visibleProperties.map(({ displayName }) => displayName);
			expect([choice, labels]).toEqual([choice, [...new Set(labels)]]);
		}
	}
});

test.each([
	[{ resource: 'contact', operation: 'upsert' }, 'create or update: contact'],
	[{ resource: 'file', kind: 'deal', operation: 'importFile' }, 'import file: deal'],
	[{ resource: 'recordTag', kind: 'ticket', operation: 'addTag' }, 'add tag: ticket'],
])('the canvas says what a node does, and with which records: %j', (parameters, words) => {
	const { workflow, node } = workflowIn({ ...parts, node: new CrmPlatform() }, { ...setup(), parameters });
	const { subtitle } = new CrmPlatform().description;
	expect(workflow.expression.getSimpleParameterValue(node, subtitle, 'internal', {})).toBe(words);
});

test('Changed Since and Sort are offered for exactly the lists that have them', () => {
	const contract = parseOpenApi(document);
	for (const resource of resources) {
		const getMany = resource.operations.find(({ option }) => option.value === 'getMany');
		const list = describeResource(contract, resource.path)?.list;
		if (!getMany) continue;
		const names = [...getMany.properties(resource), ...(getMany.options ?? [])].map(({ name }) => name);
		expect([resource.value, names.includes('changedSince'), names.includes('sort')]).toEqual([
			resource.value,
			list?.changed !== undefined,
			list?.sort !== undefined,
		]);
	}
});
