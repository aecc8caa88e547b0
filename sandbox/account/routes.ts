import { accountId } from '../foundation/account-id.ts';
import { toResponse } from '../foundation/answer.ts';
import { Problem } from '../foundation/problem.ts';
import { endpoint } from '../description/endpoint.ts';
import { success } from '../description/responses.ts';
import { maxBatchBodySize, maxBodySize } from '../http/body.ts';
import type { ApiRoute } from '../http/route.ts';
import type { Service } from '../http/service.ts';
import { pageSize } from '../queries/list-query.ts';
import { recordAnswer } from '../records/answer.ts';
import { existingRecord } from '../records/write.ts';
import type { Account } from '../schemas/account.ts';
import { maxBatchSize } from '../schemas/batch.ts';
import type { StoredRecord } from '../schemas/resource.ts';
import { users } from '../schemas/users.ts';
import type { StoreView } from '../store/visible-store.ts';

/** The routes that tell a caller whom they act for, and in which account. */
export const accountRoutes = (service: Service): ApiRoute[] => [
	endpoint({
		method: 'GET',
		path: `/v1/${users.name}/me`,
		id: 'getCurrentUser',
		tag: users.name,
		summary: 'Get the current user',
		description: 'Returns the user of the access token; for an API key, the owner of the account.',
		answers: { 200: success('The user.', 'User', 'ETag') },
		errors: [404],
		handle(c) {
			const caller = c.get('caller')!;
			const store = c.get('store');
			// An API key belongs to the whole account, so it acts for the account's owner.
			const isUser = caller.type === 'user';
			const user = isUser ? existingRecord(store, users, caller.id) : ownerIn(store);
			return toResponse(recordAnswer(200, user));
		},
	}),
	endpoint({
		method: 'GET',
		path: '/v1/account',
		id: 'getAccount',
		tag: 'account',
		summary: 'Get the account',
		answers: { 200: success('The account.', 'Account') },
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
	const isOwner = { sql: '"role" = ? AND "status" = ?', values: ['owner', 'active'] };
	const [owner] = store.table(users.name)!.findAll([isOwner], 1);
	if (owner) return owner;
	throw new Problem('not_found', 'The account has no active owner.');
}
