import {
	mergeSubject,
	subjectHash,
	idempotencyKey,
	type KeyFormat,
	originOf,
	originOfKey,
	valueKey,
	type WriteIdentity,
} from '../../nodes/CrmPlatform/api/http/idempotency';

const identity: WriteIdentity = { instance: 'i', workflow: 'w', execution: '1', node: 'n', runKey: 0, keyParts: [0] };

test('every other write has another key', () => {
	const others = [
		idempotencyKey(identity),
		idempotencyKey({ ...identity, runKey: 1 }),
		idempotencyKey({ ...identity, keyParts: [1] }),
		idempotencyKey({ ...identity, keyParts: [0, 1] }),
		idempotencyKey({ ...identity, isAddition: true }),
		...(['instance', 'workflow', 'execution', 'node'] as const).map((name) =>
			idempotencyKey({ ...identity, [name]: `${identity[name]}x` }),
		),
		...[['1', '2', '3'], ['2', '1', '3'], ['1', '2', '4']].map(([survivor = '', loser = '', execution = '']) =>
			idempotencyKey({ ...identity, keySubject: mergeSubject(survivor, loser, execution) }),
		),
		valueKey(identity, 'one'),
		valueKey(identity, 'other'),
		valueKey({ ...identity, node: 'x' }, 'one'),
	];
	expect(new Set(others).size).toBe(others.length);
});

test('a write for a value has the same key in every execution', () => {
	const elsewhere: WriteIdentity = { ...identity, execution: '2', runKey: 3 };
	expect(valueKey(elsewhere, 'A-17')).toBe(valueKey(identity, 'A-17'));
});

test.each([255, 100, 64])(
	'the key that undoes a deletion has the same end in all executions, so that the next one finds it (%i)',
	(maxLength) => {
		const hashes = ['1', '2'].map(
			(execution) => originOfKey(idempotencyKey({ ...identity, execution, keySubject: 'evt_1' }, { maxLength }))?.hash,
		);
		expect(hashes).toEqual([subjectHash('evt_1'), subjectHash('evt_1')]);
		expect(subjectHash('evt_2')).not.toBe(subjectHash('evt_1'));
	},
);

describe('the origin of a key', () => {
	test('is the execution of the workflow of the n8n that made it', () => {
		const key = idempotencyKey({ ...identity, instance: 'my n8n', workflow: 'AbC123_-x', execution: '4711' });
		expect(key).toMatch(/^n8n\/[0-9a-f]{8}\/AbC123_-x\/4711\/[0-9a-f]{64}$/);
		expect(originOfKey(key)).toMatchObject(originOf('my n8n', 'AbC123_-x', '4711'));
		expect(originOfKey(key)?.instance).not.toEqual(originOf('other n8n', 'AbC123_-x').instance);
	});

	test('tells apart executions of one number that began at different times', () => {
		const [first, second] = [1_772_000_000_000, 1_772_000_000_001].map((started) => idempotencyKey({ ...identity, started }));
		expect(originOfKey(first!)).toMatchObject({ execution: '1', started: 1_772_000_000_000 });
		expect(first!.slice(-64)).not.toBe(second!.slice(-64));
	});

	test('names what the write is a part of', () => {
		const key = idempotencyKey({ ...identity, purpose: 'erase' });
		expect(originOfKey(key)).toEqual({ ...originOf('i', 'w', '1'), purpose: 'erase', hash: key.slice(-64, -32) });
	});

	test('is only the workflow if several executions share the write', () => {
		const key = valueKey(identity, 'A-17');
		expect(originOfKey(key)).toStrictEqual({ ...originOf('i', 'w'), hash: key.slice(-64, -32) });
	});

	test.each([
		...['', 'a'.repeat(64), 'n8n/12345678/w', 'n8n/xyz/w/00', '5f0c1a2e-0000-4000-8000-000000000000'],
		...[`n8n/1234567/w/${'0'.repeat(32)}`, `n8n/12345678/w/${'0'.repeat(31)}`],
	])('is unknown if another program made it: %p', (key) => {
		expect(originOfKey(key)).toBeUndefined();
	});

	test.each(['', 'an id/with ünusual characters', 'w'.repeat(64), 'w'.repeat(300)])(
		'fits into a header and can be recognized, whatever the IDs: %p',
		(id) => {
			const key = idempotencyKey({ ...identity, workflow: id, execution: id });
			expect(key).toMatch(/^[\x21-\x7e]{1,255}$/);
			expect(originOfKey(key)).toMatchObject(originOf('i', id, id));
		},
	);

	test('is part of the key if 32 characters of its hash fit beside it', () => {
		const long = { ...identity, workflow: 'w'.repeat(40), execution: 'e'.repeat(20) };
		const fullPrefix = idempotencyKey(long).replace(/[0-9a-f]+$/, '');
		expect(idempotencyKey(long, { maxLength: fullPrefix.length + 32 })).toMatch(/^n8n\/\w+\/w+\/e+\/[0-9a-f]{32}$/);
		expect(idempotencyKey(long, { maxLength: fullPrefix.length + 31 })).toMatch(/^[0-9a-f]{64}$/);
		expect(originOfKey(idempotencyKey({ ...identity, workflow: 'a name', execution: 'ü' }, { maxLength: 100 }))).toBeDefined();
		expect(idempotencyKey(long, { maxLength: 10_000 }).length).toBeLessThanOrEqual(255);
	});
});

test.each<[words: string, format: KeyFormat, key: RegExp]>([
	['at most 100 characters', { maxLength: 100 }, /^.{64,100}$/],
	['at most 64 characters', { maxLength: 64 }, /^.{64}$/],
	['a UUID', { isUuid: true }, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/],
])('if a service requires %s, each write has one such key, and every other write another key', (_, format, form) => {
	const keys = Array.from({ length: 50 }, (_unused, runKey) => idempotencyKey({ ...identity, runKey }, format));
	for (const [runKey, writeKey] of keys.entries()) {
		expect(writeKey).toMatch(form);
		expect(writeKey).toBe(idempotencyKey({ ...identity, runKey }, format));
	}
	expect(new Set(keys).size).toBe(keys.length);
});
