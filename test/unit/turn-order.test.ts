import { TurnOrder, type Rank, type Ticket } from '../../nodes/CrmPlatform/api/http/turnOrder';

interface Named extends Ticket {
	name: string;
}

const ticket = (name: string, workflow = 'a', rank: Rank = 'ordinary', isRepeated = false): Named => ({ name, workflow, rank, isRepeated });

function order(tickets: Named[]): string[] {
	const turns = new TurnOrder<Named>();
	tickets.forEach((one) => turns.add(one));
	const names: string[] = [];
	for (let next = turns.take(); next; next = turns.take()) names.push(next.name);
	return names;
}

test('within a workflow, who came first goes first', () => {
	expect(order([ticket('1'), ticket('2'), ticket('3')])).toEqual(['1', '2', '3']);
});

test('a workflow of many requests does not hold up one of a few', () => {
	const many = Array.from({ length: 6 }, (_, i) => ticket(`a${i}`, 'a'));
	expect(order([...many, ticket('b0', 'b'), ticket('b1', 'b'), ticket('c0', 'c')])).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2', 'a3', 'a4', 'a5']);
});

test('who is waited for goes before ordinary work, and that before bulk', () => {
	expect(order([ticket('bulk', 'a', 'bulk'), ticket('ordinary'), ticket('form', 'b', 'awaited')])).toEqual(['form', 'ordinary', 'bulk']);
});

test('one in ten turns goes to the lowest rank, so that bulk does not starve', () => {
	const forms = Array.from({ length: 25 }, (_, i) => ticket(`form ${i}`, 'a', 'awaited'));
	const names = order([...forms, ticket('bulk 0', 'b', 'bulk'), ticket('bulk 1', 'b', 'bulk')]);
	expect([names.indexOf('bulk 0'), names.indexOf('bulk 1')]).toEqual([9, 19]);
});

test('ordinary work does not starve either, between those who are waited for and bulk', () => {
	const [forms, bulk] = (['awaited', 'bulk'] as const).map((rank) => Array.from({ length: 30 }, (_, i) => ticket(`${rank} ${i}`, 'a', rank)));
	const names = order([...forms!, ...bulk!, ticket('ordinary', 'b')]);
	expect([names.indexOf('bulk 0'), names.indexOf('ordinary')]).toEqual([9, 19]);
});

test('a request that was refused goes before others of its workflow', () => {
	expect(order([ticket('1'), ticket('2'), ticket('refused', 'a', 'ordinary', true), ticket('other', 'b')])).toEqual(['refused', 'other', '1', '2']);
});

test('who leaves is out, and its workflow with it', () => {
	const turns = new TurnOrder<Named>();
	const [first, second, other] = [ticket('1'), ticket('2'), ticket('other', 'b')];
	[first, second, other].forEach((one) => turns.add(one));
	expect(turns.othersThan('b')).toBe(1);
	turns.remove(first);
	turns.remove(first);
	expect(turns.all()).toEqual([second, other]);
	expect(turns.removeAll(({ workflow }) => workflow === 'a')).toEqual([second]);
	expect(turns.othersThan('b')).toBe(0);
	turns.remove(other);
	expect(turns.isEmpty).toBe(true);
	expect(turns.take()).toBeUndefined();
});
