import { OncePerItem } from '../../nodes/CrmPlatform/mapping/itemReaders';

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
	expect([values.peek(0), values.peek(1), values.peek(0)]).toEqual(['value 0', undefined, 'value 0']);
	expect([values.take(0), values.take(1), values.take(3)]).toEqual(['value 0', undefined, 'value 3']);
	expect(readItems).toEqual([0, 1, 3]);
});

test('an item that cannot be read fails in its turn with its earlier error', () => {
	const values = items();
	expect(() => values.peek(2)).toThrow('attempt 1');
	expect(() => values.peek(2)).toThrow('attempt 1');
	expect(() => values.take(2)).toThrow('attempt 1');
	expect(readItems).toEqual([2]);
});

test('a value that was read early is kept until the turn of the item, and not longer', () => {
	const values = items();
	values.peek(0);
	values.take(0);
	values.take(0);
	expect(readItems).toEqual([0, 0]);
});
