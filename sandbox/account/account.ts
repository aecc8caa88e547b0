import { pageSize } from '../queries/list-query.ts';
import { largestBatchBody, largestBody } from '../http/body.ts';
import type { Account } from '../schemas/account.ts';
import { largestBatch } from '../schemas/batch.ts';
import type { Service } from '../http/service.ts';
import { accountId } from '../foundation/account-id.ts';

export const accountOf = ({ plan, requestsPerMinute }: Service): Account => ({
	id: accountId,
	object: 'account',
	name: 'Sandbox',
	plan,
	limits: {
		requests_per_minute: requestsPerMinute,
		page_size: pageSize.maximum,
		body_bytes: largestBody,
		batch_items: largestBatch,
		batch_body_bytes: largestBatchBody,
	},
});
