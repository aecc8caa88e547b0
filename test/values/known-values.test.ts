import type { Connection } from '../../nodes/CrmPlatform/api/connection';
import { meaningsAmong } from '../../nodes/CrmPlatform/mapping/fieldNames';
import {
	findNamedRecords, type LinkResults, type FoundRecords, addMissingParts, replaceNames,
} from '../../nodes/CrmPlatform/mapping/resolveLinks';
import { fieldsInObject } from '../../nodes/CrmPlatform/mapping/readObject';
import { fieldNamed, type FieldKind } from '../../nodes/CrmPlatform/fields/field.ts';

const fields = ['name', 'address.city', 'address.zip', 'emails', 'custom_fields.tier'].map((name) => fieldNamed(name));

const read = (json: object) => {
	const { values, ...others } = fieldsInObject(meaningsAmong(fields), json as never);
	return { values: values.map(({ field: { name }, value }) => [name, value]), ...others };
};

test('values are found flat and in objects', () => {
	const values = [['name', 'Ada'], ['address.city', 'Madrid'], ['address.zip', '28']];
	expect(read({ name: 'Ada', address: { city: 'Madrid' }, 'address.zip': '28' })).toEqual({ values, unknown: [], notObjects: [] });
});

test('lists are values and stay unchanged', () => {
	expect(read({ emails: [{ value: 'a' }] }).values).toEqual([['emails', [{ value: 'a' }]]]);
});

test.each([null, '', ' '])('an object that is %j is blank as a whole', (address) => {
	expect(read({ address })).toEqual({ values: [['address', address]], unknown: [], notObjects: [] });
});

test('an object may be JSON text, as from databases', () => {
	expect(read({ custom_fields: '{"tier":2}' }).values).toEqual([['custom_fields.tier', 2]]);
});

test.each(['12 Main Street', '[1]', 7, ['Madrid']])('%p is reported as not being an object', (address) => {
	expect(read({ address })).toEqual({ values: [], unknown: [], notObjects: ['address'] });
});

test('names that match no field are reported with their path', () => {
	const { values, unknown } = read({ id: 1, address: { planet: 'x' }, custom_fields: { gone: 1, tier: 2 } });
	expect(values).toEqual([['custom_fields.tier', 2]]);
	expect(unknown).toEqual(['id', 'address.planet', 'custom_fields.gone']);
});

test('an undefined value counts as missing', () => {
	expect(read({ name: undefined, other: undefined })).toEqual({ values: [], unknown: [], notObjects: [] });
});

describe('a column of a spreadsheet', () => {
	const contact = [
		fieldNamed('first_name', { label: 'First Name' }),
		fieldNamed('email', { label: 'Email' }),
		fieldNamed('company_id', { label: 'Company', target: '/companies' }),
		fieldNamed('address.city', { label: 'Address: City' }),
		fieldNamed('custom_fields.vip', { label: 'Very Important' }),
		fieldNamed('custom_fields.first', { label: 'Twin' }),
		fieldNamed('custom_fields.second', { label: 'Twin' }),
		fieldNamed('custom_fields.name', { label: 'Full Name' }),
	];
	const readContact = (json: object) => {
		const { values, unknown } = fieldsInObject(meaningsAmong(contact, new Set(['id', 'name', 'first_name'])), json as never);
		return { values: Object.fromEntries(values.map(({ field: { name }, value }) => [name, value])), unknown };
	};

	test.each([
		['First Name', 'first_name'],
		['FIRST_NAME', 'first_name'],
		['firstName', 'first_name'],
		['\ufeffEmail', 'email'],
		['E-Mail', 'email'],
		['Company', 'company_id'],
		['Company ID', 'company_id'],
		['Address: City', 'address.city'],
		['vip', 'custom_fields.vip'],
		['very important', 'custom_fields.vip'],
	])('%s is the field %s', (column, name) => {
		expect(readContact({ [column]: 'x' })).toEqual({ values: { [name]: 'x' }, unknown: [] });
	});

	test.each(['notes', 'name', '---', 'constructor', '__proto__x'])('%s matches nothing, as no field fits', (column) => {
		expect(readContact({ [column]: 'x' })).toEqual({ values: {}, unknown: [column] });
	});

	test('that is only similar to a field of text is not used for an object', () => {
		expect(readContact({ company: { id: 1 } })).toEqual({ values: {}, unknown: ['company'] });
	});

	test('that may be any of several fields is refused with their names', () => {
		expect(() => readContact({ Twin: 'x' })).toThrow(/^“Twin” could mean any of the fields custom_fields\.first, custom_fields\.second\./);
	});

	test('that is empty gives way to another one of the field', () => {
		expect(readContact({ Email: 'a', 'E-Mail': '' }).values).toEqual({ email: 'a' });
	});

	test('that means the same as another, with another value, is refused', () => {
		expect(() => readContact({ Email: 'a', 'E-Mail': 'b' })).toThrow(/“Email” and “E-Mail”/);
		expect(() => readContact({ Email: 'a', email: 'b' })).toThrow(/“Email” and “email”/);
		expect(readContact({ Email: 'a', 'E-Mail': 'a' }).values).toEqual({ email: 'a' });
	});
});

const stageOf = (kind: FieldKind) => fieldNamed('stage_id', { target: '/pipelines', part: 'stages', kind });

test.each(['text', 'number'] as const)('a part (%s) is looked for in the record that the item names, not in a custom field', (kind) => {
	const [pipeline, former] = ['pipeline_id', 'custom_fields.former'].map((name) => fieldNamed(name, { target: '/pipelines' }));
	const [field, converted] = [stageOf(kind), 'New'];
	const values = [{ field: pipeline!, converted: 'p2' }, { field, converted }, { field: former!, converted: undefined }];
	const parts = ['p1', 'p2'].map((ownerId, id) => ({ ownerId, ownerName: '', id, name: 'New', isUnique: true }));
	const records: FoundRecords = { crmIds: new Map(), hasSource: false, byName: new Map(), newNames: new Set(), idExists: new Map() };
	const [found, partsOf] = [new Map([['/pipelines', records]] as const), new Map([['/pipelines.stages', parts]] as const)];
	const named: LinkResults = { linkChecks: 'none', records: found, parts: partsOf };
	expect(replaceNames(named, values[1]!, values)).toBe(1);
	const ofFormer = [values[1]!, { field: former!, converted: 'p1' }];
	expect(() => replaceNames(named, values[1]!, ofFormer)).toThrow('is the name of several stages');
});

test('a text that says that it is the ID of a part adds no part of this name', async () => {
	const body = { data: [{ id: 'p1', stages: [{ id: 's1', name: 'New' }] }], next_cursor: null };
	const send = async () => await Promise.resolve({ status: 200, headers: {}, body });
	const describe = async () => await Promise.resolve({ list: { cursor: 'cursor', filters: [] } });
	const api = { send, describe, requireDescription: () => {} } as unknown as Connection;
	const addPart = jest.fn(async () => await Promise.resolve(undefined));
	const items = ['id:s404', 'Won'].map((converted) => [{ field: stageOf('text'), converted }]);
	await addMissingParts(api, await findNamedRecords({ api, linkChecks: 'none' }, items), items, addPart);
	expect(addPart.mock.calls).toEqual([['/pipelines', 'Won', { id: 'p1', name: '' }]]);
});

test('an ID of the CRM is looked up although it is one of the other system, too', async () => {
	const company = fieldNamed('company_id', { target: '/companies' });
	const filters = [fieldNamed('external_id'), fieldNamed('ids', { kind: 'list' })];
	const found = [{ id: 'c1', external_id: 'hubspot:9' }];
	const send = async ({ query }: { query: object }) =>
		await Promise.resolve({ status: 200, headers: {}, body: { data: 'ids' in query ? [] : found, next_cursor: null } });
	const describe = async () => await Promise.resolve({ list: { cursor: 'cursor', filters } });
	const api = { send, describe } as unknown as Connection;
	const [others, ours] = ['9', 'id:9'].map((converted) => ({ field: company, converted }));
	const named = await findNamedRecords({ api, linkChecks: 'all', source: 'hubspot' }, [[others!], [ours!]]);
	expect(replaceNames(named, others!, [others!])).toBe('c1');
	expect(() => replaceNames(named, ours!, [ours!])).toThrow('no record of companies has the ID “9”');
});
