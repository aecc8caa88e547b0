import { runInNewContext } from 'node:vm';

import { memberAtPath, setAtPath, withMemberAtPath } from '../../nodes/CrmPlatform/base/ownMembers';
import { itemPath, valueAt } from '../../nodes/CrmPlatform/mapping/expressions/template';

test.each([
	'$json.a.toUpperCase()',
	'$json.a + 1',
	'$json[$json.a]',
	'$json["a\\n"]',
	'$json[010]',
	'$json.a.length',
	'$json.constructor',
	'$json.__proto__',
	'$json.',
	'$json["a"',
	'$json.a // note',
	'$item.a',
	'',
])('%s is left to the engine', (code) => {
	expect(itemPath(code)).toBeUndefined();
});

test('a letter of a text is on the path, as in n8n', () => {
	expect(valueAt({ name: 'Ada' }, ['name', '0'])).toEqual(['A']);
});

test('paths also lead through objects of another realm and those without a prototype', () => {
	const bare = Object.assign(Object.create(null), { a: 1 });
	expect(valueAt({ bare }, ['bare', 'a'])).toEqual([1]);
	expect(valueAt({ other: runInNewContext('({ list: [{ a: 1 }] })') }, ['other', 'list', '0', 'a'])).toEqual([1]);
});

test('a function is left to the engine, which refuses it', () => {
	expect(valueAt({ f: () => 1 }, ['f'])).toEqual([]);
	expect(valueAt({ f: () => 1 }, ['f', 'name'])).toEqual([]);
});

const record = { name: 'Ada', address: { city: 'Rome', geo: { lat: 1 } }, tags: ['a', 'b'], none: null };

test.each<[path: string[], value: unknown]>([
	[['name'], 'Ada'],
	[['address', 'geo', 'lat'], 1],
	[['tags', '1'], undefined],
	[['tags', 'length'], undefined],
	[['address', 'street', 'number'], undefined],
	[['none', 'city'], undefined],
	[['name', 'length'], undefined],
	[['constructor', 'name'], undefined],
	[['address', 'toString'], undefined],
	[[], record],
])('the value at %j is %j', (path, value) => {
	expect(memberAtPath(record, path)).toEqual(value);
});

test('a copy with another value leaves the record and its objects unchanged', () => {
	const before = structuredClone(record);
	const copy = withMemberAtPath(record, ['address', 'geo', 'lat'], 2);
	expect(copy).toEqual({ ...record, address: { city: 'Rome', geo: { lat: 2 } } });
	expect(record).toEqual(before);
	expect(withMemberAtPath({}, ['a', 'b'], 1)).toEqual({ a: { b: 1 } });
	const odd = withMemberAtPath({}, ['__proto__', 'x'], 1);
	expect([Object.keys(odd), ({} as { x?: number }).x]).toEqual([['__proto__'], undefined]);
});

test('a member that was set individually takes precedence over the value of its object, in either order', () => {
	for (const order of [0, 1]) {
		const body = {};
		const wholeObject = () => setAtPath(body, ['address'], { city: 'Rome', zip: '1' });
		const member = () => setAtPath(body, ['address', 'city'], 'Oslo');
		for (const set of order === 0 ? [wholeObject, member] : [member, wholeObject]) set();
		expect(body).toEqual({ address: { city: 'Oslo', zip: '1' } });
	}
});
