import { runInNewContext } from 'node:vm';

import { itemPath, valueAt } from '../../nodes/CrmPlatform/mapping/expressions/template';

test.each([
	['$json.a', ['a']],
	[' $json.a.b_c.$d ', ['a', 'b_c', '$d']],
	['$json["a b"]', ['a b']],
	["$json['it is'].x", ['it is', 'x']],
	['$json.list[0].name', ['list', '0', 'name']],
	['$json["a"]["b"]', ['a', 'b']],
	['$json?.a?.b?.[0]', ['a', 'b', '0']],
	['$json', []],
])('%s is a path into the item', (code, path) => {
	expect(itemPath(code)).toEqual(path);
});

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
