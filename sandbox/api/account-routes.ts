import { toResponse } from '../core/foundation/response-data.ts';
import { Problem } from '../core/foundation/problem.ts';
import { type ApiRoute, endpoint } from './endpoint/endpoint.ts';
import { success } from './endpoint/responses.ts';
import { maxBatchBodySize, maxBodySize } from './http/body.ts';
import type { Service } from '../core/service.ts';
import { pageSize } from '../domain/queries/list-query.ts';
import { recordResponse } from '../core/store/records/record-json.ts';
import { existingRecord } from '../domain/records/write.ts';
import { type Account, accountSchema, accountId } from '../core/schemas/account.ts';
import { maxBatchSize } from '../core/schemas/batch.ts';
import type { StoredRecord } from '../core/schemas/resource.ts';
import { users } from '../core/schemas/users.ts';
import { equals } from '../core/store/records/condition.ts';
import type { StoreView } from '../core/store/visibility/visible-store.ts';

/** The routes that return the user on whose behalf a caller acts, and the account. */
export const accountRoutes = (service: Service): ApiRoute[] => [
	endpoint({
		method: 'GET',
		path: `/v1/${users.name}/me`,
		id: 'getCurrentUser',
		tag: users.name,
		summary: 'Get the current user',
		description: 'Returns the user of the access token; for an API key, the owner of the account.',
		responses: { 200: success('The user.', 'User', 'ETag') },
		errors: [404],
		handle(c) {
			const caller = c.get('caller')!;
			const store = c.get('store');
			// An API key belongs to the whole account, so it acts for the account's owner.
			const isUser = caller.type === 'user';
			const user = isUser ? existingRecord(store, users, caller.id) : ownerIn(store);
			return toResponse(recordResponse(200, user));
		},
	}),
	endpoint({
		method: 'GET',
		path: '/v1/account',
		id: 'getAccount',
		tag: 'account',
		summary: 'Get the account',
		responses: { 200: success('The account.', accountSchema) },
		handle: (c) => c.json(accountOf(service)),
	}),
];

const accountOf = ({ plan, requestsPerMinute }: Service): Account => ({
	id: accountId,
	object: 'account',
	name: 'Sandbox',
	plan,
	limits: {
		requests_per_minute: requestsPerMinute,
		page_size: pageSize.maximum,
		body_bytes: maxBodySize,
		batch_items: maxBatchSize,
		batch_body_bytes: maxBatchBodySize,
	},
});

function ownerIn(store: StoreView): StoredRecord {
	const [owner] = store.table(users.name)!.findAll([equals('role', 'owner'), equals('status', 'active')], 1);
	if (owner) return owner;
	throw new Problem('not_found', 'The account has no active owner.');
}
