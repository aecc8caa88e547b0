import { grantableScopes, scopes as everyScope } from './scopes.ts';
import type { Authority, Caller } from '../../core/service.ts';
import type { StoredRecord } from '../../core/schemas/resource.ts';
import type { Store } from '../../core/store/store.ts';
import { storeVisibleTo, type StoreView } from '../../core/store/visibility/visible-store.ts';

/** What a caller may currently do and see. */
export interface Rights {
	/** Undefined for an API key, which has every scope. */
	scopes: string[] | undefined;
	store: StoreView;
}

/** The caller may no longer do this; the reason is shown to the person who started it. */
export class NoRights {
	readonly reason: string;

	constructor(reason: string) {
		this.reason = reason;
	}
}

/**
 * Returns the current rights of a caller, or why they have none. Ask once per request, at each step of a job and at
 * each attempt of a delivery, because keys and grants are revoked, and users deactivated and demoted, in between.
 *
 * @param needed the scopes of the work; empty if it is enough that the user can still sign in
 */
export function rightsOf(store: Store, authority: Authority, ...needed: string[]): Rights | NoRights {
	const { caller, application, grant } = authority;
	if (caller.type === 'api_key') {
		if (!store.apiKeys.has(caller.id)) return new NoRights('The API key was revoked.');
		return { scopes: undefined, store: storeVisibleTo(store, caller, application) };
	}
	const member = caller.type === 'user' ? store.members.find(caller.id) : undefined;
	if (!member) return new NoRights('The user can no longer sign in.');
	if (grant && !store.grants.find(grant.grantId)) {
		return new NoRights('The application’s access was revoked.');
	}
	const scopes = grantableScopes(member.role, grant?.scopes ?? [...everyScope.keys()]);
	const missing = needed.find((scope) => !scopes.includes(scope));
	if (missing !== undefined) return new NoRights(`The user no longer has the right to do this (${missing}).`);
	return { scopes, store: storeVisibleTo(store, caller, application) };
}

/** The authority with which a job or a subscription was created. */
export const authorityOf = (store: Store, record: StoredRecord): Authority => ({
	caller: record['created_by'] as Caller,
	application: (record['application_id'] as string | null | undefined) ?? undefined,
	grant: store.creationGrants.find(record.id),
});
