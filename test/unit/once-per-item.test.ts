import { OncePerItem } from '../../nodes/CrmPlatform/mapping/oncePerItem';

const readItems: number[] = [];
const items = () => {
	readItems.length = 0;
	return new OncePerItem((item) => {
		readItems.push(item);
		if (item === 2) throw new Error(`attempt ${readItems.length}`);
		return item === 1 ? undefined : `value ${item}`;
	});
};

test('an item that a look-up needs early is read once, whatever its value', () => {
	const values = items();
	expect([values.readEarly(0), values.readEarly(1), values.readEarly(0)]).toEqual(['value 0', undefined, 'value 0']);
	expect([values.readInTurn(0), values.readInTurn(1), values.readInTurn(3)]).toEqual(['value 0', undefined, 'value 3']);
	expect(readItems).toEqual([0, 1, 3]);
});

test('an item that cannot be read fails in its turn with its earlier error', () => {
	const values = items();
	expect(() => values.readEarly(2)).toThrow('attempt 1');
	expect(() => values.readEarly(2)).toThrow('attempt 1');
	expect(() => values.readInTurn(2)).toThrow('attempt 1');
	expect(readItems).toEqual([2]);
});

test('a value that was read early is kept until the turn of the item, and not longer', () => {
	const values = items();
	values.readEarly(0);
	values.readInTurn(0);
	values.readInTurn(0);
	expect(readItems).toEqual([0, 0]);
});
