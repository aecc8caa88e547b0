import { idempotencyKey, type WriteIdentity } from '../../nodes/CrmPlatform/api/idempotency';

const identity: WriteIdentity = {
	instance: 'i',
	workflow: 'w',
	execution: '1',
	node: 'n',
	run: 0,
	item: 0,
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
		...Object.entries(identity).map(([name, value]) =>
			idempotencyKey(
				{ ...identity, [name]: typeof value === 'number' ? value + 1 : `${value}x` },
				'POST',
				'/v1/contacts',
			),
		),
	];
	expect(new Set(others).size).toBe(others.length);
});

test('a key is short enough for every service', () => {
	expect(idempotencyKey(identity, 'POST', '/v1/contacts')).toMatch(/^[0-9a-f]{64}$/);
});
