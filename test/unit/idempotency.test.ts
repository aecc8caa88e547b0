import { idempotencyKey, type WriteIdentity } from '../../nodes/CrmPlatform/api/http/idempotency';

const identity: WriteIdentity = {
	instance: 'i',
	workflow: 'w',
	execution: '1',
	node: 'n',
	run: 0,
	items: [0],
};

test('two tries of one write have the same key', () => {
	expect(idempotencyKey({ ...identity }, 'POST', '/v1/contacts')).toBe(
		idempotencyKey({ ...identity }, 'POST', '/v1/contacts'),
	);
});

test('every other write has another key', () => {
	const others = [
		idempotencyKey(identity, 'POST', '/v1/contacts'),
		idempotencyKey(identity, 'PUT', '/v1/contacts'),
		idempotencyKey(identity, 'POST', '/v1/companies'),
		idempotencyKey({ ...identity, run: 1 }, 'POST', '/v1/contacts'),
		idempotencyKey({ ...identity, items: [1] }, 'POST', '/v1/contacts'),
		idempotencyKey({ ...identity, items: [0, 1] }, 'POST', '/v1/contacts'),
		...(['instance', 'workflow', 'execution', 'node'] as const).map((name) =>
			idempotencyKey({ ...identity, [name]: `${identity[name]}x` }, 'POST', '/v1/contacts'),
		),
	];
	expect(new Set(others).size).toBe(others.length);
});

test('a key is short enough for every service', () => {
	expect(idempotencyKey(identity, 'POST', '/v1/contacts')).toMatch(/^[0-9a-f]{64}$/);
});
