import { itemPath, valueAt } from '../../nodes/CrmPlatform/mapping/itemPath';

test.each([
	['$json.a', ['a']],
	[' $json.a.b_c.$d ', ['a', 'b_c', '$d']],
	['$json["a b"]', ['a b']],
	["$json['it is'].x", ['it is', 'x']],
	['$json.list[0].name', ['list', '0', 'name']],
	['$json["a"]["b"]', ['a', 'b']],
	['$json?.a?.b?.[0]', ['a', 'b', '0']],
	['$json', []],
])('%s is a way into the item', (code, path) => {
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

test('the way ends where there is nothing', () => {
	expect(valueAt({ a: null }, ['a', 'b'])).toBeUndefined();
	expect(valueAt({}, ['a', 'b', 'c'])).toBeUndefined();
});

test('a letter of a text is on the way, as it is for n8n', () => {
	expect(valueAt({ name: 'Ada' }, ['name', '0'])).toBe('A');
});
