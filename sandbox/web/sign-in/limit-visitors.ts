import { createMiddleware } from 'hono/factory';
import { accountId } from '../../core/schemas/account.ts';
import { Problem } from '../../core/foundation/problem.ts';
import { spendRequest } from '../../api/http/rate-limit.ts';
import type { RateLimiter } from '../../api/http/rate-limiter.ts';
import type { Env, Service } from '../../core/service.ts';
import { refusalPage } from '../pages/page.ts';
import { sessionOf } from './session.ts';

/**
 * Counts the requests of signed-in users as those of the account, so that the console cannot bypass
 * its limit. Other visitors are only redirected to the sign-in page.
 */
export const limitVisitors = (service: Service, limiter: RateLimiter) =>
	createMiddleware<Env>(async (c, next) => {
		if (!sessionOf(service, c)) return next();
		c.set('window', accountId);
		try {
			spendRequest(service, limiter, c);
		} catch (error) {
			if (!(error instanceof Problem)) throw error;
			for (const [name, value] of Object.entries(error.headers)) c.header(name, value);
			return refusalPage(c, 429, 'Too many requests', error.message);
		}
		return next();
	});
