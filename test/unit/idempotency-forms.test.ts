import {
	canMakeKeys,
	freshKey,
	idempotencyKey,
	type KeyFormat,
	originOf,
	originOfKey,
	type WriteIdentity,
} from '../../nodes/CrmPlatform/api/http/idempotency';

const identity: WriteIdentity = { instance: 'i', workflow: 'w', execution: '1', node: 'n', run: 0, items: [0] };

/** Forms that services ask for, and what a key in that form looks like. */
const forms: Array<[words: string, format: KeyFormat, key: RegExp]> = [
	['hexadecimal of 64', { pattern: '^[0-9a-f]+$' }, /^[0-9a-f]{64}$/],
	['hexadecimal of exactly 40', { pattern: '^[0-9a-f]{40}$' }, /^[0-9a-f]{40}$/],
	['hexadecimal of exactly 32', { pattern: '^[0-9a-f]{32}$' }, /^[0-9a-f]{32}$/],
	['hexadecimal in capitals', { pattern: '^[0-9A-F]+$' }, /^[0-9A-F]{64}$/],
	['hexadecimal of 32 in capitals', { pattern: '^[0-9A-F]{32}$' }, /^[0-9A-F]{32}$/],
	['22 characters', { maxLength: 22 }, /^[\w-]{22}$/],
	['a UUID by its pattern', { pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }, /^.{14}8.{4}[89ab].{16}$/],
	['a UUID of version 4', { pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' }, /^.{14}4/],
	['a UUID of version 7', { isUuid: true, pattern: '^.{14}7' }, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
	['a UUID in capitals', { isUuid: true, pattern: '^[0-9A-F-]+$' }, /^[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$/],
	['a ULID', { pattern: '^[0-7][0-9A-HJKMNP-TV-Z]{25}$' }, /^[0-7].{25}$/],
	['a ULID in small letters', { pattern: '^[0-7][0-9a-hjkmnp-tv-z]{25}$' }, /^[0-7].{25}$/],
	['39 digits', { pattern: '^[0-9]{39}$' }, /^[0-9]{39}$/],
];

describe.each(forms)('if a service requires %s', (_, format, form) => {
	const key = (change: Partial<WriteIdentity> = {}) => idempotencyKey({ ...identity, ...change }, format);

	test('each write has one such key, and every other write another key', () => {
		const keys = Array.from({ length: 50 }, (_unused, run) => key({ run }));
		for (const [run, writeKey] of keys.entries()) {
			expect(writeKey).toMatch(form);
			if (format.pattern) expect(writeKey).toMatch(new RegExp(format.pattern));
			expect(writeKey).toBe(key({ run }));
		}
		expect(new Set(keys).size).toBe(keys.length);
	});

	test('a write that is never retried also has one', () => {
		const keys = Array.from({ length: 20 }, () => freshKey(format));
		for (const writeKey of keys) if (format.pattern) expect(writeKey).toMatch(new RegExp(format.pattern));
		expect(new Set(keys).size).toBe(keys.length);
	});

	test('the node reports that it can make them', () => {
		expect(canMakeKeys(format)).toBe(true);
	});
});

test.each<[string, KeyFormat]>([
	['too short to be unique', { maxLength: 21 }],
	['longer than any that the node makes', { minLength: 300 }],
	['of a form nobody makes', { pattern: '^order-[0-9]+$' }],
	['with an invalid pattern', { pattern: '(' }],
	['of a form that only some keys have by chance', { pattern: '^[89a-d]' }],
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

test('the refusal names the form that the CRM requires', () => {
	expect(() => idempotencyKey(identity, { pattern: '^x$' })).toThrow('in a form that the node cannot create (^x$)');
	expect(() => idempotencyKey(identity, { maxLength: 21 })).toThrow('of at most 21 characters, which are too short to be unique');
});

test('the origin is part of a key if 32 characters of its hash fit beside it', () => {
	const fullPrefix = idempotencyKey(identity).replace(/[0-9a-f]+$/, '');
	const prefix = fullPrefix.replace(/[^/]+\/$/, '');
	expect(idempotencyKey(identity, { maxLength: fullPrefix.length + 32 })).toMatch(/^n8n\/\w+\/\w*\/\w+\/[0-9a-f]{32}$/);
	// Without room for the execution, it tells the workflow.
	expect(idempotencyKey(identity, { maxLength: fullPrefix.length + 31 })).toMatch(/^n8n\/\w+\/\w*\/[0-9a-f]{33}$/);
	expect(idempotencyKey(identity, { maxLength: prefix.length + 31 })).toMatch(/^[0-9a-f]+$/);
	expect(idempotencyKey(identity, { maxLength: 10_000 }).length).toBeLessThanOrEqual(255);
	const least = idempotencyKey(identity, { maxLength: prefix.length + 32 });
	expect(idempotencyKey(identity, { minLength: least.length, maxLength: least.length })).toBe(least);
});

test('a key without an installation or a workflow is not attributed to another one', () => {
	expect(originOfKey('n8n/1234567/w/' + '0'.repeat(32))).toBeUndefined();
	expect(originOfKey('n8n/12345678/w/' + '0'.repeat(31))).toBeUndefined();
	expect(originOfKey('n8n/12345678//' + '0'.repeat(32))).toEqual({ instance: '12345678', workflow: '', hash: '0'.repeat(32) });
});

test('a workflow whose id does not fit into a header is identified by 16 digits of its hash', () => {
	expect(originOf('i', 'ünusual').workflow).toMatch(/^[0-9a-f]{16}$/);
	expect(originOf('i', 'w'.repeat(64)).workflow).toBe('w'.repeat(64));
	expect(originOf('i', 'w'.repeat(65)).workflow).toMatch(/^[0-9a-f]{16}$/);
});
