import { recordAnswer } from '../records/answer.ts';
import { toResponse } from '../foundation/answer.ts';
import { queryParameters } from '../http/query.ts';
import { existingRecord } from '../records/write.ts';
import { Problem } from '../foundation/problem.ts';
import type { Route } from '../http/route.ts';
import type { StoredRecord } from '../schemas/resource.ts';
import { users } from '../schemas/users.ts';
import type { StoreView } from '../store/visible-store.ts';

/** The user a caller acts for. API keys belong to the whole account, so they act for its owner. */
export const meRoute = (): Route => ({
	method: 'GET',
	path: `/v1/${users.name}/me`,
	handler(c) {
		queryParameters(c, []);
		const caller = c.get('caller')!;
		const isUser = caller.type === 'user';
		const user = isUser ? existingRecord(c.get('store'), users, caller.id) : ownerIn(c.get('store'));
		return toResponse(recordAnswer(200, user));
	},
});

function ownerIn(store: StoreView): StoredRecord {
	const isOwner = { sql: '"role" = ? AND "status" = ?', values: ['owner', 'active'] };
	const [owner] = store.table(users.name)!.findAll([isOwner], 1);
	if (owner) return owner;
	throw new Problem('not_found', 'The account has no active owner.');
}
