import type { FieldError } from '../foundation/problem.ts';
import type { Consequence, RuleContext } from './resource.ts';

interface User {
	id: string;
	role: string;
	status: string;
}

const isActiveOwner = ({ role, status }: User): boolean => role === 'owner' && status === 'active';

/** Whether the account has another active owner. */
const hasOtherOwner = (user: User, { findBy }: RuleContext): boolean =>
	findBy('users', 'role', 'owner').some((other) => other.id !== user.id && other['status'] === 'active');

/**
 * Only owners and API keys, which belong to the account, can change who owns it, and it always has an
 * active owner. (Changing users at all takes a scope that only administrators can grant.)
 */
export function ownershipErrors(user: User, previous: User | undefined, context: RuleContext): FieldError[] {
	const { actor, find } = context;
	const refuse = (field: string, detail: string) => [{ pointer: `/${field}`, code: 'forbidden', detail }];
	const concernsOwner = [user.role, previous?.role].includes('owner');
	const isByOwner = actor.type !== 'user' || find('users', actor.id)?.['role'] === 'owner';
	if (concernsOwner && !isByOwner && !isUnchanged(user, previous)) {
		return refuse('role', 'Only an owner of the account can create, change or deactivate an owner.');
	}
	const isOwnerLost = previous && isActiveOwner(previous) && !isActiveOwner(user);
	if (!isOwnerLost || hasOtherOwner(user, context)) return [];
	const field = user.role === 'owner' ? 'status' : 'role';
	return refuse(field, 'This is the only active owner of the account. Make another user an owner first.');
}

/** Explains why the only owner cannot be deleted. */
export const ownerInUse = (user: User, context: RuleContext): string | undefined =>
	isActiveOwner(user) && !hasOtherOwner(user, context)
		? 'they are the only active owner of the account; make another user an owner first'
		: undefined;

/** Pauses the webhooks of a user who can no longer sign in. */
export function pauseWebhooks(user: User, previous: User | undefined, { findBy }: RuleContext): Consequence[] {
	if (user.status === 'active' || previous?.status !== 'active') return [];
	return findBy('webhooks', 'status', 'active').filter(({ created_by: by }) => (by as { id: string }).id === user.id)
		.map(({ id }) => ({ resource: 'webhooks', id, change: { status: 'paused' } }));
}

const isUnchanged = (user: User, previous: User | undefined): boolean =>
	JSON.stringify(user) === JSON.stringify(previous);
