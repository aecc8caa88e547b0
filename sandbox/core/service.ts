import type { HttpBindings } from '@hono/node-server';
import type { Plan } from './schemas/account.ts';
import type { TokenGrant } from './store/credentials/creation-grants.ts';
import type { Store } from './store/store.ts';
import type { StoreView } from './store/visibility/visible-store.ts';

/** The dependencies that every part of the service shares. */
export interface Service {
	store: Store;
	plan: Plan;
	requestsPerMinute: number;
	tokenLifetimes: TokenLifetimes;
	/** Milliseconds since 1970. */
	now(): number;
	newId(prefix: string, now: number): string;
}

/** The lifetimes of tokens in milliseconds. */
export interface TokenLifetimes {
	accessToken: number;
	/** How long a replaced refresh token remains valid. */
	replacedRefreshToken: number;
}

/** Who sent a request: an API key, or the user of the access token. */
export interface Caller {
	type: 'api_key' | 'user';
	id: string;
}

/** On whose behalf work is done, during a request or days later. */
export interface Authority {
	caller: Caller;
	/** The id of the OAuth client that a user acts through; undefined for an API key and in the console. */
	application: string | undefined;
	/** The permission that the user gave the application. */
	grant?: TokenGrant | undefined;
}

/** The type parameters of hono's contexts in this service. */
export interface Env {
	/** Absent when the app is called in process. */
	Bindings: Partial<HttpBindings>;
	Variables: {
		requestId: string;
		caller: Caller | undefined;
		/** The store as the caller sees it. */
		store: StoreView;
		/** The scopes of the access token; undefined for an API key, which has every scope. */
		scopes: string[] | undefined;
		/** On whose behalf the request is processed. */
		authority: Authority | undefined;
		/** Whether the access token of the request has expired. */
		isExpired: boolean;
		/** Set when the connection is dropped without a response. */
		isDropped: boolean;
	};
}
