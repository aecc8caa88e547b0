import {
	deletionHash,
	freshKey,
	idempotencyKey,
	originOf,
	originOfKey,
	valueKey,
	type WriteIdentity,
} from '../../nodes/CrmPlatform/api/http/idempotency';

const identity: WriteIdentity = {
	instance: 'i',
	workflow: 'w',
	execution: '1',
	node: 'n',
	run: 0,
	items: [0],
};

test('two attempts at one write have the same key', () => {
	expect(idempotencyKey({ ...identity })).toBe(idempotencyKey({ ...identity }));
});

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

test('a key tells which execution of which workflow of which n8n made it', () => {
	const key = idempotencyKey({ ...identity, instance: 'my n8n', workflow: 'AbC123_-x', execution: '4711' });
	expect(key).toMatch(/^n8n\/[0-9a-f]{8}\/AbC123_-x\/4711\/[0-9a-f]{64}$/);
	expect(originOfKey(key)).toMatchObject(originOf('my n8n', 'AbC123_-x', '4711'));
	expect(originOfKey(key)?.instance).not.toEqual(originOf('other n8n', 'AbC123_-x').instance);
});

test('a key of a write that several executions share tells only the workflow', () => {
	const origin = originOfKey(valueKey(identity, 'A-17'));
	expect(origin).toMatchObject(originOf('i', 'w'));
	expect(origin).not.toHaveProperty('execution');
});

test.each([255, 100, 64])('the key that undoes a deletion has the same end in all executions, so that the next one finds it (%i)', (maxLength) => {
	const hashes = ['1', '2'].map((execution) => originOfKey(idempotencyKey({ ...identity, execution, deletion: 'evt_1' }, { maxLength }))?.hash);
	expect(hashes).toEqual([deletionHash('evt_1'), deletionHash('evt_1')]);
	expect(deletionHash('evt_2')).not.toBe(deletionHash('evt_1'));
});

test.each(['', 'a'.repeat(64), 'n8n/12345678/w', 'n8n/xyz/w/00', '5f0c1a2e-0000-4000-8000-000000000000'])(
	'a key of another program has no origin: %p',
	(key) => {
		expect(originOfKey(key)).toBeUndefined();
	},
);

test.each(['', 'an id/with ünusual characters', 'w'.repeat(64), 'w'.repeat(300)])(
	'any id of a workflow and an execution fits into a header and can be recognized: %p',
	(id) => {
		const key = idempotencyKey({ ...identity, workflow: id, execution: id });
		expect(key).toMatch(/^[\x21-\x7e]{1,255}$/);
		expect(originOfKey(key)).toMatchObject(originOf('i', id, id));
	},
);

test.each([255, 100, 64, 40, 32, 31, 22])('a key is at most as long as the CRM accepts: %i', (maxLength) => {
	const key = idempotencyKey(identity, { maxLength });
	expect(key.length).toBeLessThanOrEqual(maxLength);
	expect(idempotencyKey({ ...identity, run: 1 }, { maxLength })).not.toBe(key);
});

test('a service whose keys are too short to be unique is refused', () => {
	expect(() => idempotencyKey(identity, { maxLength: 8 })).toThrow('at most 8 characters');
});

test('a key is a UUID if the CRM requires one', () => {
	expect(idempotencyKey(identity, { isUuid: true })).toMatch(
		/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
	);
});

test('a key that is used once also has the form that the CRM requires', () => {
	expect(freshKey()).toMatch(/^[0-9a-f-]{36}$/);
	expect(freshKey({ pattern: '^[0-9a-f]{32}$' })).toMatch(/^[0-9a-f]{32}$/);
	expect(freshKey({ maxLength: 24 })).not.toBe(freshKey({ maxLength: 24 }));
});
