import { idempotencyHeaderAt } from '../../nodes/CrmPlatform/api/openapi/idempotencyHeader';
import { documentWith } from './described-document.ts';

const key = { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 40 } };
const document = documentWith({
	'/v1/contacts': { post: { parameters: [key] }, get: {} },
	'/v1/contacts/{id}': { patch: {}, delete: { parameters: [{ ...key, schema: { format: 'uuid' } }] } },
	'/v1/contacts/merge': { post: { parameters: [{ name: 'X-Idempotency', in: 'header' }] } },
	'/v1/{anything}/{id}': { post: {} },
	'/companies': { parameters: [key], post: {} },
});

test.each([
	['POST', '/v1/contacts', { idempotencyHeader: 'Idempotency-Key', idempotencyKey: { maxLength: 40 } }],
	['POST', '/v1/contacts/', { idempotencyHeader: 'Idempotency-Key', idempotencyKey: { maxLength: 40 } }],
	['DELETE', '/v1/contacts/con_1', { idempotencyHeader: 'Idempotency-Key', idempotencyKey: { isUuid: true } }],
	['POST', '/v1/contacts/merge', { idempotencyHeader: 'X-Idempotency' }],
	['POST', '/v1/companies', { idempotencyHeader: 'Idempotency-Key', idempotencyKey: { maxLength: 40 } }],
	['PATCH', '/v1/contacts/con_1', {}],
	['POST', '/v1/contacts/con_1', {}],
	['PUT', '/v1/contacts', undefined],
	['POST', '/v2/contacts/1/more', undefined],
])('%s %s uses the key parameter that its own description declares', (method, path, expected) => {
	expect(idempotencyHeaderAt(document, method, path)).toEqual(expected);
});
