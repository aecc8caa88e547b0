import type { HttpBindings } from '@hono/node-server';
import type { Plan } from './plans.ts';
import type { Problem } from './problem.ts';
import type { Store } from './store/store.ts';

/** What every part of the service works with. */
export interface Service {
	store: Store;
	plan: Plan;
	requestsPerMinute: number;
	tokenLifetimes: TokenLifetimes;
	/** Milliseconds since 1970. */
	now(): number;
	newId(prefix: string, now: number): string;
}

/** In milliseconds. */
export interface TokenLifetimes {
	accessToken: number;
	/** How long a refresh token stays good after it was replaced. */
	replacedRefreshToken: number;
}

/** Who sent a request: the API key it came with, or the user whose access token it came with. */
export interface Caller {
	type: 'api_key' | 'user';
	id: string;
}

/** What hono passes along with a request. */
export interface Env {
	/** Absent when the app is called in process. */
	Bindings: Partial<HttpBindings> & {
		/** What a request that could not be read is answered with. */
		refusal?: Problem;
	};
	Variables: {
		requestId: string;
		caller: Caller | undefined;
		/** The store as the caller sees it. */
		store: Store;
		/** What the caller's access token allows; an API key allows everything. */
		scopes: string[] | undefined;
		/** What the access token was given for; undefined for an API key. */
		grantId: string | undefined;
		/** Whose rate-limit window the request uses up; undefined until that is known. */
		window: string | undefined;
		/** Whether the request came with an access token that was good once. */
		isExpired: boolean;
		/** Set when the connection is dropped instead of answered. */
		isDropped: boolean;
	};
}
