import { areEquivalent } from '../../nodes/CrmPlatform/undo/equivalentFields';

test.each([
	['a value in a list that was empty', [null, 'a'], [[], [{ value: 'a', label: 'work' }]], true],
	['a value that leaves a list', ['a', null], [['a', 'b'], ['b']], true],
	['an ID that is a number', [1, 2], [[1, 3], [2, 3]], true],
	['a part of an object', ['Bern', 'Thun'], [{ city: 'Bern' }, { city: 'Thun' }], true],
	['a first name in the whole name', ['Ada', 'Eva'], ['Ada Bell', 'Eva Bell'], true],
	['a domain in an address', ['a.example', 'b.example'], ['https://a.example/', 'https://b.example/'], true],
	['a list of IDs beside the records', [['a'], ['b']], [[{ id: 'a', name: 'A' }], [{ id: 'b', name: 'B' }]], true],
	['a value that is no longer in the list', ['a', 'b'], [['a'], ['a', 'c']], false],
	['a name and an address of a new record', [null, 'ada'], [null, 'ada@a.example'], false],
	['a part of a word', ['a', 'e'], ['tan', 'ten'], false],
	['two texts that are the same', ['a', 'b'], ['a', 'b'], false],
	['two numbers', [1, 2], [1, 2], false],
	['two switches', [true, false], [true, false], false],
	['a name and a number', ['Ada', 'Eva'], ['+441', '+442'], false],
	[
		'an object that is part of another only after the change', [null, { city: 'Bern' }], [{ city: 'Thun' }, { city: 'Bern', zip: '1' }],
		false,
	],
])('fields that changed together are forms of one value: %s', (_, first, second, expected) => {
	const [a, b] = [first, second].map(([before, after]) => ({ before, after })) as [
		Parameters<typeof areEquivalent>[0], Parameters<typeof areEquivalent>[0],
	];
	expect([areEquivalent(a, b), areEquivalent(b, a)]).toEqual([expected, expected]);
});
