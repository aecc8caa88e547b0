import type { Field } from '../../nodes/CrmPlatform/api/fields';
import { knownValues } from '../../nodes/CrmPlatform/mapping/knownValues';

const fields = ['name', 'address.city', 'address.zip', 'emails', 'custom_fields.tier'].map(
	(name): Field => ({
		name,
		path: name.split('.'),
		label: name,
		description: '',
		kind: 'text',
		required: false,
	}),
);

const read = (json: object) => {
	const { values, unknown } = knownValues(json as never, fields);
	return { values: values.map(([{ name }, value]) => [name, value]), unknown };
};

test('values are found flat and in objects', () => {
	expect(read({ name: 'Ada', address: { city: 'Madrid' }, 'address.zip': '28' })).toEqual({
		values: [
			['name', 'Ada'],
			['address.city', 'Madrid'],
			['address.zip', '28'],
		],
		unknown: [],
	});
});

test('lists are values as they are', () => {
	expect(read({ emails: [{ value: 'a' }] }).values).toEqual([['emails', [{ value: 'a' }]]]);
});

test('an object that is null is cleared as a whole', () => {
	expect(read({ address: null }).values).toEqual([['address', null]]);
});

test('names of no field are told, with their place', () => {
	expect(read({ id: 1, address: { planet: 'x' }, custom_fields: { gone: 1, tier: 2 } })).toEqual({
		values: [['custom_fields.tier', 2]],
		unknown: ['id', 'address.planet', 'custom_fields.gone'],
	});
});

test('what is undefined was not given', () => {
	expect(read({ name: undefined, other: undefined })).toEqual({ values: [], unknown: [] });
});
