import { recordAnswer, toResponse } from './collection/answer.ts';
import { queryOf } from './collection/query.ts';
import { Problem } from './problem.ts';
import type { Route } from './router.ts';
import { users } from './schemas/users.ts';
import type { Service } from './service.ts';

/** The user a caller acts for. API keys belong to the whole account, so they act for its owner. */
export const meRoute = ({ store }: Service): Route => ({
	method: 'GET',
	path: `/v1/${users.name}/me`,
	handler(c) {
		queryOf(c, []);
		const isOwner = { sql: '"role" = ? AND "status" = ?', values: ['owner', 'active'] };
		const [owner] = store.table(users.name)!.findAll([isOwner], 1);
		if (!owner) throw new Problem('not_found', 'The account has no active owner.');
		return toResponse(recordAnswer(200, owner));
	},
});
