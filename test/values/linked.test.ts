import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { resources } from '../../nodes/CrmPlatform/resources';
import { describeResource } from '../../nodes/CrmPlatform/api/openapi/description';
import { linksOf, withNewId } from '../../nodes/CrmPlatform/api/openapi/linkFields';
import { parseOpenApi } from '../../nodes/CrmPlatform/api/openapi/openapi';
import { getLinks } from '../../nodes/CrmPlatform/pickers/listOptions';
import { searchLinked } from '../../nodes/CrmPlatform/pickers/searchPickers';
import document from '../../contract/openapi.json';
import { nodeRuns, picker } from '../support/node-runs.ts';
import { automatic, byId, create, get, getMany, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { failure, output } = nodeRuns(sandbox);

/** Records picked beside the fields. */
const linked = (...rows: Array<[field: string, id: string]>) => ({
	records: rows.map(([field, id]) => ({ field, record: byId(id) })),
});

test.each([
	['its id', (id: unknown) => byId(String(id))],
	['an expression in its place', () => byId('={{ $json.id }}')],
	['an expression for all of it', () => '={{ $json.id }}'],
	['an expression that gives all of it', () => '={{ $json.picked }}'],
])('a record is picked by %s', async (_, picked) => {
	const { id } = await sandbox.first('contacts');
	const [contact] = await output({ ...get('contact', ''), recordId: picked(id) }, [{ id, picked: byId(id) }]);
	expect(contact).toMatchObject({ id });
});

describe('picked records', () => {
	test('that are blank are left out', async () => {
		const records = [{ field: 'company_id', record: null }, { field: 'owner_id', record: byId('') }];
		const [contact] = await output({ ...create('contact', { last_name: 'Lovelace' }), fieldsLinked: { records } });
		expect(contact).toMatchObject({ company_id: null });
	});

	test('are refused if the field is an expression', async () => {
		const fieldsLinked = linked(['={{ $json.field }}', 'com_1']);
		const { message } = await failure({ ...create('contact', { last_name: 'Lovelace' }), fieldsLinked });
		expect(message).toContain('Linked Records: the field cannot be an expression.');
	});

	test('are given by ID in any notation: the ID is neither looked up nor changed', async () => {
		const company = await sandbox.create('companies', { name: 'Not an ID' });
		await sandbox.create('companies', { name: company.id });
		const itself = linked(['company_id', company.id]);
		const prefixed = linked(['company_id', `id:${company.id}`]);
		const [first] = await output({ ...create('contact', { last_name: 'Plain' }), fieldsLinked: itself });
		const [second] = await output({ ...create('contact', { last_name: 'Prefixed' }), fieldsLinked: prefixed });
		expect([first!.company_id, second!.company_id]).toEqual([company.id, company.id]);
	});

	test('of one list are written together', async () => {
		const tags = (await sandbox.list('tags?limit=2')).map(({ id }) => id);
		const fieldsLinked = linked(...tags.map((id): [string, string] => ['tag_ids', id]));
		const [contact] = await output({ ...create('contact', { last_name: 'Lovelace' }), fieldsLinked });
		expect((contact!.tag_ids as string[]).toSorted()).toEqual(tags.toSorted());
	});

	test('may be named if names are accepted, in each way to set the fields', async () => {
		const company = await sandbox.create('companies', { name: 'Altamira Named' });
		const contact = await sandbox.create('contacts', { last_name: 'Named', email: 'named@linked.example' });
		const named = (field: string, value: string) => ({ field, record: { __rl: true, mode: 'name', value } });
		const fieldsLinked = { records: [named('company_id', '={{ $json.company ?? "altamira named" }}')] };
		const json = { fieldsMode: 'json', fieldsJson: '{ "last_name": "J" }' };
		const all = [
			...(await output({ ...create('contact', { last_name: 'E' }), fieldsLinked })),
			...(await output({ ...create('contact', {}), ...json, fieldsLinked })),
			...(await output({ ...create('contact', automatic), fieldsLinked }, [{ last_name: 'A' }, { last_name: 'B', company: company.id }])),
		];
		expect(all.map(({ company_id }) => company_id)).toEqual(Array(4).fill(company.id));
		const links = { records: [named('links: contacts', 'named@linked.example'), named('links: companies', 'Altamira Named')] };
		const [note] = await output({ ...create('note', { body: 'Named.' }), fieldsLinked: links });
		expect(note!.links).toEqual([{ resource: 'contacts', id: contact.id }, { resource: 'companies', id: company.id }]);
	});

	test('are combined with fields set as JSON or taken from the items, and are written first', async () => {
		const [first, second] = await sandbox.list('companies?limit=2');
		const fieldsLinked = linked(['company_id', first!.id]);
		const fields = { last_name: 'Lovelace', company_id: second!.id };
		const json = { fieldsMode: 'json', fieldsJson: JSON.stringify(fields) };

		const contacts = [
			...(await output({ ...create('contact', {}), ...json, fieldsLinked })),
			...(await output({ ...create('contact', automatic), fieldsLinked }, [fields])),
		];

		expect(contacts).toMatchObject(Array(2).fill({ last_name: 'Lovelace', company_id: first!.id }));
	});

	test('fill in custom fields', async () => {
		await sandbox.create('custom-fields', {
			resource: 'contacts',
			key: 'introduced_by',
			label: 'Introduced By',
			type: 'reference',
			reference_resource: 'contacts',
		});
		const [firstContact, secondContact] = await sandbox.list('contacts?limit=2');
		const fieldsLinked = linked(['custom_fields.introduced_by', secondContact!.id]);
		const [contact] = await output({ ...update('contact', firstContact!.id, {}), fieldsLinked });
		expect(contact!.custom_fields).toMatchObject({ introduced_by: secondContact!.id });
	});

	test('are refused if a field takes one record', async () => {
		const fieldsLinked = linked(['company_id', 'com_1'], ['company_id', 'com_2']);
		const error = await failure({ ...create('contact', { last_name: 'Lovelace' }), fieldsLinked });
		expect(error.message).toContain('Company accepts one record');
	});
});

describe('the lists to pick from', () => {
	const setup = (resource: string, operation: string, more: IDataObject = {}) => ({
		credential: sandbox.credential,
		parameters: { resource, operation, ...more } as never,
		path: 'parameters.fieldsLinked.records[0].record',
	});
	const searching = (field: string, ...others: Array<[string, string]>) =>
		setup('deal', 'create', { fieldsLinked: linked([field, ''], ...others) });

	test('name every field that refers to records, also of several types', async () => {
		const names = (await picker(getLinks, setup('task', 'create'))).map(({ name }) => name);
		expect(names).toEqual(expect.arrayContaining(['Assignee', 'Owner', 'Tags', 'Links: Contacts']));
	});

	test('show the stages of the pipeline that was picked, or of all if an expression picks it', async () => {
		const pipeline = (await sandbox.list('pipelines')).at(-1)!;
		const stages = (pipeline.stages as IDataObject[]).map(({ id }) => id);
		const stagesOf = async (picked: string) =>
			(await picker(searchLinked, searching('stage_id', ['pipeline_id', picked]), undefined, undefined)).results.map(({ value }) => value);
		expect(await stagesOf(pipeline.id)).toEqual(stages);
		expect(await stagesOf('={{ $json.pipeline }}')).toEqual(expect.arrayContaining(stages));
	});

	test('say that the field must be chosen first', async () => {
		const nothing = picker(searchLinked, searching(''), undefined, undefined);
		await expect(nothing).rejects.toThrow('Choose a field first');
	});
});

test('records can be picked wherever they can be referred to', () => {
	const contract = parseOpenApi(document);
	const referring = resources.filter(({ path, operations }) => {
		const description = describeResource(contract, path);
		const writes = operations.map(({ option, describedWrite }) =>
			['create', 'update', 'upsert'].includes(String(option.value)) && description
				? describedWrite?.(description)
				: undefined,
		);
		return linksOf(writes.flatMap((write) => write?.fields ?? [])).length > 0;
	});
	const offering = resources.filter(({ isEveryday }) => isEveryday);
	expect(offering.map(({ name }) => name)).toEqual(referring.map(({ name }) => name));
});

test.each<[string, (id: string) => IDataObject]>([
	['is', (id) => ({ value: `${id}\n` })],
	['is', (id) => ({ value: ` ${id}` })],
	['is', (id) => ({ value: ` id:${id} ` })],
	['isOneOf', (id) => ({ value: [` ${id}`, 'com_00000000000000000000000000'] })],
	['isRecord', (id) => ({ record: { __rl: true, mode: 'name', value: `${id}\t` } })],
	['isOneOfChoices', (id) => ({ choices: [` ${id} `] })],
])('an ID with white space around it is the ID: %s', async (operator, valueOf) => {
	const { id } = await sandbox.create('companies', { name: 'Spacious' });
	await sandbox.create('contacts', { last_name: 'A', company_id: id });
	const rows = [{ field: 'company_id', operator, ...valueOf(id) }];
	const parameters = { ...getMany('contact'), filters: { rows } } as INodeParameters;
	expect(await output(parameters)).toHaveLength(1);
});

test('a link is written without the white space around its ID, and white space alone is not an ID', async () => {
	const { id } = await sandbox.create('companies', { name: 'Roomy' });
	const items = [{ last_name: 'A', company_id: ` ${id}\n` }, { last_name: 'B', company_id: ' ' }];
	const parameters = { ...create('contact', automatic), options: { emptyCells: 'clear' } } as INodeParameters;
	const written = await output(parameters, items);
	expect(written.map(({ company_id: companyId }) => companyId)).toEqual([id, null]);
});

test('an ID takes the place of a number as a number, unless the number would be another one', () => {
	expect([withNewId(7, '12'), withNewId('7', '12'), withNewId(7, undefined)]).toEqual([12, '12', 7]);
	expect(withNewId(7, '9007199254740993')).toBe('9007199254740993');
});
