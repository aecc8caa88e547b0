import { FairQueue, type Priority, type QueueEntry } from '../../nodes/CrmPlatform/api/http/fairQueue';

interface Named extends QueueEntry {
	name: string;
}

const entry = (name: string, workflow = 'a', priority: Priority = 'ordinary', wasDeferred = false): Named => ({
	name, workflow, priority, wasDeferred,
});

function order(entries: Named[]): string[] {
	const queue = new FairQueue<Named>();
	entries.forEach((item) => queue.add(item));
	const names: string[] = [];
	for (let next = queue.take(); next; next = queue.take()) names.push(next.name);
	return names;
}

test('within a workflow, requests are sent in their order', () => {
	expect(order([entry('1'), entry('2'), entry('3')])).toEqual(['1', '2', '3']);
});

test('a workflow with many requests does not delay a workflow with few', () => {
	const many = Array.from({ length: 6 }, (_, i) => entry(`a${i}`, 'a'));
	expect(order([...many, entry('b0', 'b'), entry('b1', 'b'), entry('c0', 'c')])).toEqual([
		'a0', 'b0', 'c0', 'a1', 'b1', 'a2', 'a3', 'a4', 'a5',
	]);
});

test('awaited requests are sent before ordinary ones, and those before bulk', () => {
	expect(order([entry('bulk', 'a', 'bulk'), entry('ordinary'), entry('form', 'b', 'awaited')])).toEqual(['form', 'ordinary', 'bulk']);
});

test('one in ten turns goes to the lowest priority, so that bulk does not starve', () => {
	const forms = Array.from({ length: 25 }, (_, i) => entry(`form ${i}`, 'a', 'awaited'));
	const names = order([...forms, entry('bulk 0', 'b', 'bulk'), entry('bulk 1', 'b', 'bulk')]);
	expect([names.indexOf('bulk 0'), names.indexOf('bulk 1')]).toEqual([9, 19]);
});

test('ordinary requests do not starve between awaited ones and bulk', () => {
	const [forms, bulk] = (['awaited', 'bulk'] as const).map((priority) =>
		Array.from({ length: 30 }, (_, i) => entry(`${priority} ${i}`, 'a', priority)),
	);
	const names = order([...forms!, ...bulk!, entry('ordinary', 'b')]);
	expect([names.indexOf('bulk 0'), names.indexOf('ordinary')]).toEqual([9, 19]);
});

test('a request that was refused is sent before others of its workflow', () => {
	expect(order([entry('1'), entry('2'), entry('refused', 'a', 'ordinary', true), entry('other', 'b')])).toEqual([
		'refused', 'other', '1', '2',
	]);
});

test('a removed entry is gone, and with the last one its workflow', () => {
	const queue = new FairQueue<Named>();
	const [first, second, other] = [entry('1'), entry('2'), entry('other', 'b')];
	[first, second, other].forEach((item) => queue.add(item));
	expect(queue.countOtherWorkflows('b')).toBe(1);
	queue.remove(first);
	queue.remove(first);
	expect(queue.all()).toEqual([second, other]);
	expect(queue.removeAll(({ workflow }) => workflow === 'a')).toEqual([second]);
	expect(queue.countOtherWorkflows('b')).toBe(0);
	queue.remove(other);
	expect(queue.isEmpty).toBe(true);
	expect(queue.take()).toBeUndefined();
});
