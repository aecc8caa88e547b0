import type { Service } from '../../../sandbox/core/service.ts';
import { idMaker } from '../../../sandbox/core/foundation/ids.ts';
import { plans } from '../../../sandbox/core/schemas/account.ts';
import { revokeGrant, revokeKey } from '../../../sandbox/api/webhooks/revoke-access.ts';
import type { TokenSandbox } from './access-tokens.ts';
import type { Call } from './in-process.ts';

/** A caller who begins something, with everything needed to end their rights. */
export interface Beginner {
	role: 'key' | 'admin' | 'member';
	caller: { type: 'api_key' | 'user'; id: string };
	grant?: { grantId: string; scopes: string[] };
	call: Call;
}

/** An event that ends or narrows the rights of a caller. */
export type End = 'nothing' | 'revocation' | 'deactivation' | 'demotion';

/** Every kind of caller, with everything that can happen to its rights. */
export const standings: Array<[role: Beginner['role'], end: End]> = [
	['key', 'nothing'],
	['key', 'revocation'],
	...(['admin', 'member'] as const).flatMap((role) =>
		(['nothing', 'revocation', 'deactivation', 'demotion'] as const).map((end): [typeof role, End] => [role, end]),
	),
];

/**
 * The share of the standings that one of several items is tried with. Together the items cover all standings: each
 * pair of a record type and a standing, and of a write and a standing, is tried, but not each triple.
 *
 * @param turn a number that differs between record types and between items
 * @param itemCount the number of items that take turns
 */
export const standingsInTurn = (turn: number, itemCount: number): typeof standings =>
	standings.filter((_, i) => (i + turn) % itemCount === 0);

export const serviceOf = ({ store }: TokenSandbox, now = Date.now): Service => ({
	store,
	now,
	plan: 'starter',
	requestsPerMinute: plans.starter,
	tokenLifetimes: { accessToken: 3_600_000, replacedRefreshToken: 0 },
	newId: idMaker(),
});

let count = 0;

/** A new caller with these scopes, so that ending one caller does not end another. */
export async function newBeginner(
	sandbox: TokenSandbox,
	role: Beginner['role'],
	scopes: string[],
): Promise<Beginner> {
	if (role === 'key') {
		const id = `key_${++count}`;
		sandbox.store.apiKeys.add(id, `secret-of-${id}`);
		return { role, caller: { type: 'api_key', id }, call: sandbox.with(`secret-of-${id}`) };
	}
	const id = await sandbox.newUser(role);
	const grant = sandbox.grant(id, scopes);
	const caller = { type: 'user', id } as const;
	return { role, caller, grant: { grantId: grant.id, scopes }, call: sandbox.with(grant.access) };
}

const lesser = { admin: 'member', member: 'viewer' };

export async function endRights(sandbox: TokenSandbox, who: Beginner, end: End): Promise<void> {
	const { id } = who.caller;
	const service = serviceOf(sandbox);
	if (end === 'deactivation') await sandbox.delete(`/v1/users/${id}`);
	if (end === 'demotion' && who.role !== 'key') {
		await sandbox.patch(`/v1/users/${id}`, { role: lesser[who.role] });
	}
	if (end === 'revocation' && who.grant) revokeGrant(service, who.grant.grantId);
	if (end === 'revocation' && !who.grant) revokeKey(service, id);
}

/** Resources that only administrators may change. Repeated here by hand, so that tests notice changes. */
const administrative = ['users', 'pipelines', 'custom-fields', 'custom-objects'];

/** Whether a member may read or write the records of a resource. */
export const memberMay = (access: 'read' | 'write', resource: string): boolean =>
	access === 'read' || !administrative.includes(resource);

/** Whether somebody may still read or write the records of a resource. */
export function mayStill(who: Beginner, end: End, access: 'read' | 'write', resource: string): boolean {
	if (end === 'revocation' || end === 'deactivation') return false;
	const role = end === 'demotion' && who.role !== 'key' ? lesser[who.role] : who.role;
	if (role === 'key' || role === 'admin') return true;
	return role === 'member' ? memberMay(access, resource) : access === 'read';
}
