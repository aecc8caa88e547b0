import { itemPath } from '../../nodes/CrmPlatform/mapping/itemPath';

test.each([
	['={{ $json.a }}', ['a']],
	['={{$json.a.b_c.$d}}', ['a', 'b_c', '$d']],
	['={{ $json["a b"] }}', ['a b']],
	["={{ $json['it is'].x }}", ['it is', 'x']],
	['={{ $json.list[0].name }}', ['list', '0', 'name']],
	['={{ $json["a"]["b"] }}', ['a', 'b']],
])('%s is a way into the item', (expression, path) => {
	expect(itemPath(expression)).toEqual(path);
});

test.each([
	'$json.a',
	'={{ $json }}',
	'= {{ $json.a }}',
	'={{ $json.a }} ',
	'={{ $json.a }}{{ $json.b }}',
	'=Dear {{ $json.a }}',
	'={{ $json.a.toUpperCase() }}',
	'={{ $json.a + 1 }}',
	'={{ $json.a?.b }}',
	'={{ $json[$json.a] }}',
	'={{ $json["a\\n"] }}',
	'={{ $json.a.length }}',
	'={{ $json.constructor }}',
	'={{ $json.__proto__ }}',
	'={{ $json. }}',
	'={{ $json["a" }}',
	'={{ $json.a // note }}',
	'={{ $item.a }}',
])('%s is left to the engine', (expression) => {
	expect(itemPath(expression)).toBeUndefined();
});
