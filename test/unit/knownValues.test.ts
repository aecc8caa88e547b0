import type { Field } from '../../nodes/CrmPlatform/api/openapi/fields';
import { objectFields } from '../../nodes/CrmPlatform/mapping/objectFields';

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
	const { values, ...others } = objectFields(fields)(json as never);
	return { values: values.map(([{ name }, value]) => [name, value]), ...others };
};

test('values are found flat and in objects', () => {
	expect(read({ name: 'Ada', address: { city: 'Madrid' }, 'address.zip': '28' })).toEqual({
		values: [
			['name', 'Ada'],
			['address.city', 'Madrid'],
			['address.zip', '28'],
		],
		unknown: [],
		noObjects: [],
	});
});

test('lists are values as they are', () => {
	expect(read({ emails: [{ value: 'a' }] }).values).toEqual([['emails', [{ value: 'a' }]]]);
});

test('an object that is null is cleared as a whole, and an empty cell says nothing of it', () => {
	expect(read({ address: null }).values).toEqual([['address', null]]);
	expect(read({ address: '' })).toEqual({ values: [], unknown: [], noObjects: [] });
});

test('an object may be JSON text, as databases give it', () => {
	expect(read({ custom_fields: '{"tier":2}' }).values).toEqual([['custom_fields.tier', 2]]);
});

test.each(['12 Main Street', '[1]', 7, ['Madrid']])('%p is no object, which is told', (address) => {
	expect(read({ address })).toEqual({ values: [], unknown: [], noObjects: ['address'] });
});

test('names of no field are told, with their place', () => {
	expect(read({ id: 1, address: { planet: 'x' }, custom_fields: { gone: 1, tier: 2 } })).toEqual({
		values: [['custom_fields.tier', 2]],
		unknown: ['id', 'address.planet', 'custom_fields.gone'],
		noObjects: [],
	});
});

test('what is undefined was not given', () => {
	expect(read({ name: undefined, other: undefined })).toEqual({
		values: [],
		unknown: [],
		noObjects: [],
	});
});
