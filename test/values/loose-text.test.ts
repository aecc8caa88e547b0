import { looseText } from '../../nodes/CrmPlatform/fields/keys';

test.each([
	['fjord.example', ['www.fjord.example', 'https://www.fjord.example/', 'HTTP://Fjord.example', 'fjord.example.']],
	['7', ['="7"', '07', '7.0', '#7', '７', "'7", ' 7 ', '7;']],
	['d9b2d63d-a233-4123-847a-8d1a1a3d9f0a', ['{D9B2D63D-A233-4123-847A-8D1A1A3D9F0A}', 'd9b2d63da2334123847a8d1a1a3d9f0a']],
	['abc', ['[abc]', '<abc>', '"abc"', 'ABC,']],
])('%s may be written as %j', (text, others) => {
	for (const other of others) expect([other, looseText(other)]).toEqual([other, looseText(text)]);
});

test.each([
	['con_7', 'con_8'], ['7', '70'], ['a.example', 'b.example'], ['www1.example', 'example'], ['1.5', '15'],
])('%s and %s are different', (first, second) => {
	expect(looseText(first)).not.toBe(looseText(second));
});
