import {
	canMakeKeys,
	deletionHash,
	freshKey,
	idempotencyKey,
	type KeyFormat,
	originOf,
	originOfKey,
	valueKey,
	type WriteIdentity,
} from '../../nodes/CrmPlatform/api/http/idempotency';

const identity: WriteIdentity = { instance: 'i', workflow: 'w', execution: '1', node: 'n', run: 0, items: [0] };

test('every other write has another key', () => {
	const others = [
		idempotencyKey(identity),
		idempotencyKey({ ...identity, run: 1 }),
		idempotencyKey({ ...identity, items: [1] }),
		idempotencyKey({ ...identity, items: [0, 1] }),
		...(['instance', 'workflow', 'execution', 'node'] as const).map((name) =>
			idempotencyKey({ ...identity, [name]: `${identity[name]}x` }),
		),
		valueKey(identity, 'one'),
		valueKey(identity, 'other'),
		valueKey({ ...identity, node: 'x' }, 'one'),
	];
	expect(new Set(others).size).toBe(others.length);
});

test('a write for a value has the same key in every execution', () => {
	const elsewhere: WriteIdentity = { ...identity, execution: '2', run: 3 };
	expect(valueKey(elsewhere, 'A-17')).toBe(valueKey(identity, 'A-17'));
});

test.each([255, 100, 64])(
	'the key that undoes a deletion has the same end in all executions, so that the next one finds it (%i)',
	(maxLength) => {
		const hashes = ['1', '2'].map(
			(execution) => originOfKey(idempotencyKey({ ...identity, execution, deletion: 'evt_1' }, { maxLength }))?.hash,
		);
		expect(hashes).toEqual([deletionHash('evt_1'), deletionHash('evt_1')]);
		expect(deletionHash('evt_2')).not.toBe(deletionHash('evt_1'));
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

	test('is only the workflow if several executions share the write', () => {
		const origin = originOfKey(valueKey(identity, 'A-17'));
		expect(origin).toMatchObject(originOf('i', 'w'));
		expect(origin).not.toHaveProperty('execution');
	});

	test.each([
		...['', 'a'.repeat(64), 'n8n/12345678/w', 'n8n/xyz/w/00', '5f0c1a2e-0000-4000-8000-000000000000'],
		...[`n8n/1234567/w/${'0'.repeat(32)}`, `n8n/12345678/w/${'0'.repeat(31)}`],
	])('is unknown if another program made it: %p', (key) => {
		expect(originOfKey(key)).toBeUndefined();
	});

	test('may be an installation without a workflow', () => {
		expect(originOfKey('n8n/12345678//' + '0'.repeat(32))).toEqual({ instance: '12345678', workflow: '', hash: '0'.repeat(32) });
	});

	test.each(['', 'an id/with ünusual characters', 'w'.repeat(64), 'w'.repeat(300)])(
		'fits into a header and can be recognized, whatever the IDs: %p',
		(id) => {
			const key = idempotencyKey({ ...identity, workflow: id, execution: id });
			expect(key).toMatch(/^[\x21-\x7e]{1,255}$/);
			expect(originOfKey(key)).toMatchObject(originOf('i', id, id));
		},
	);

	test('has 16 digits of a hash in place of a workflow ID that does not fit into a header', () => {
		expect(originOf('i', 'ünusual').workflow).toMatch(/^[0-9a-f]{16}$/);
		expect(originOf('i', 'w'.repeat(64)).workflow).toBe('w'.repeat(64));
		expect(originOf('i', 'w'.repeat(65)).workflow).toMatch(/^[0-9a-f]{16}$/);
	});

	test('is part of the key if 32 characters of its hash fit beside it', () => {
		const fullPrefix = idempotencyKey(identity).replace(/[0-9a-f]+$/, '');
		const prefix = fullPrefix.replace(/[^/]+\/$/, '');
		expect(idempotencyKey(identity, { maxLength: fullPrefix.length + 32 })).toMatch(/^n8n\/\w+\/\w*\/\w+\/[0-9a-f]{32}$/);
		// Without room for the execution, the key names the workflow.
		expect(idempotencyKey(identity, { maxLength: fullPrefix.length + 31 })).toMatch(/^n8n\/\w+\/\w*\/[0-9a-f]{33}$/);
		expect(idempotencyKey(identity, { maxLength: prefix.length + 31 })).toMatch(/^[0-9a-f]+$/);
		expect(idempotencyKey(identity, { maxLength: 10_000 }).length).toBeLessThanOrEqual(255);
		const shortest = idempotencyKey(identity, { maxLength: prefix.length + 32 });
		expect(idempotencyKey(identity, { minLength: shortest.length, maxLength: shortest.length })).toBe(shortest);
	});
});

/** Formats that services require, and what a key in that format looks like. */
const formats: Array<[words: string, format: KeyFormat, key: RegExp]> = [
	...[255, 100, 64, 40, 32, 31].map((maxLength): [string, KeyFormat, RegExp] => [
		`at most ${maxLength} characters`, { maxLength }, new RegExp(`^.{22,${maxLength}}$`),
	]),
	['22 characters', { maxLength: 22 }, /^[\w-]{22}$/],
	['hexadecimal of 64', { pattern: '^[0-9a-f]+$' }, /^[0-9a-f]{64}$/],
	['hexadecimal of exactly 40', { pattern: '^[0-9a-f]{40}$' }, /^[0-9a-f]{40}$/],
	['hexadecimal of exactly 32', { pattern: '^[0-9a-f]{32}$' }, /^[0-9a-f]{32}$/],
	['hexadecimal in capitals', { pattern: '^[0-9A-F]+$' }, /^[0-9A-F]{64}$/],
	['hexadecimal of 32 in capitals', { pattern: '^[0-9A-F]{32}$' }, /^[0-9A-F]{32}$/],
	['a UUID', { isUuid: true }, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
	['a UUID by its pattern', { pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }, /^.{14}8.{4}[89ab].{16}$/],
	['a UUID of version 4', { pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' }, /^.{14}4/],
	['a UUID of version 7', { isUuid: true, pattern: '^.{14}7' }, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
	['a UUID in capitals', { isUuid: true, pattern: '^[0-9A-F-]+$' }, /^[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$/],
	['a ULID', { pattern: '^[0-7][0-9A-HJKMNP-TV-Z]{25}$' }, /^[0-7].{25}$/],
	['a ULID in small letters', { pattern: '^[0-7][0-9a-hjkmnp-tv-z]{25}$' }, /^[0-7].{25}$/],
	['39 digits', { pattern: '^[0-9]{39}$' }, /^[0-9]{39}$/],
];

describe.each(formats)('if a service requires %s', (_, format, form) => {
	const key = (run: number) => idempotencyKey({ ...identity, run }, format);

	test('each write has one such key, and every other write another key', () => {
		const keys = Array.from({ length: 50 }, (_unused, run) => key(run));
		for (const [run, writeKey] of keys.entries()) {
			expect(writeKey).toMatch(form);
			if (format.pattern) expect(writeKey).toMatch(new RegExp(format.pattern));
			expect(writeKey).toBe(key(run));
		}
		expect(new Set(keys).size).toBe(keys.length);
	});

	test('a write that is never retried also has one', () => {
		const keys = Array.from({ length: 20 }, () => freshKey(format));
		for (const writeKey of keys) expect(writeKey).toMatch(format.pattern ? new RegExp(format.pattern) : /^[\w/-]{22,255}$/);
		expect(new Set(keys).size).toBe(keys.length);
	});

	test('the node reports that it can make them', () => {
		expect(canMakeKeys(format)).toBe(true);
	});
});

test('the digit of a UUID with its variant has bits of the write, too', () => {
	const uuids = Array.from({ length: 50 }, (_, run) => idempotencyKey({ ...identity, run }, { isUuid: true }));
	expect(new Set(uuids.map((uuid) => uuid.charAt(19)))).toEqual(new Set('89ab'));
});

test('a write that is never retried has a UUID if the service requires no format', () => {
	expect(freshKey()).toMatch(/^[0-9a-f-]{36}$/);
});

test.each<[string, KeyFormat]>([
	['too short to be unique', { maxLength: 21 }],
	['that are UUIDs, but shorter than a UUID', { isUuid: true, maxLength: 35 }],
	['longer than any that the node makes', { minLength: 300 }],
	['in a format that nobody makes', { pattern: '^order-[0-9]+$' }],
	['with an invalid pattern', { pattern: '(' }],
	['in a format that only some keys have by chance', { pattern: '^[89a-d]' }],
])('the node reports that it cannot make keys %s, and refuses the write', (_, format) => {
	expect(canMakeKeys(format)).toBe(false);
	const outcomes = Array.from({ length: 40 }, (_unused, run) => {
		try {
			return idempotencyKey({ ...identity, run }, format);
		} catch (error) {
			return (error as Error).message;
		}
	});
	expect(outcomes).toContainEqual(expect.stringMatching(/^The CRM requires idempotency keys .*support\.$/));
});

test('the refusal names the format that the CRM requires', () => {
	expect(() => idempotencyKey(identity, { pattern: '^x$' })).toThrow('in a form that the node cannot create (^x$)');
	expect(() => idempotencyKey(identity, { maxLength: 21 })).toThrow('of at most 21 characters, which are too short to be unique');
});
