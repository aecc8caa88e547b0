import { z } from 'zod/v4';
import { about, choiceOr, emailAddress, instant, readOnly, text, url } from './fields.ts';
import { languageTag, timeZone } from './profile.ts';
import { systemFields } from './record.ts';
import { defineResource, type Consequence, type RuleContext } from './resource.ts';
import type { FieldError } from '../foundation/problem.ts';

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
function ownershipErrors(user: User, previous: User | undefined, context: RuleContext): FieldError[] {
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
const ownerInUse = (user: User, context: RuleContext): string | undefined =>
	isActiveOwner(user) && !hasOtherOwner(user, context)
		? 'they are the only active owner of the account; make another user an owner first'
		: undefined;

/** Pauses the webhooks of a user who can no longer sign in. */
function pauseWebhooks(user: User, previous: User | undefined, { findBy }: RuleContext): Consequence[] {
	if (user.status === 'active' || previous?.status !== 'active') return [];
	return findBy('webhooks', 'status', 'active').filter(({ created_by: by }) => (by as { id: string }).id === user.id)
		.map(({ id }) => ({ resource: 'webhooks', id, change: { status: 'paused' } }));
}

const isUnchanged = (user: User, previous: User | undefined): boolean =>
	JSON.stringify(user) === JSON.stringify(previous);

export const users = defineResource({
	name: 'users',
	object: 'user',
	idPrefix: 'usr',
	description: 'The people who work with the account. Deleting one deactivates them.',
	visibility: 'everyone',
	isAdministrative: true,
	fields: {
		email: emailAddress.meta(about('Email address to sign in with; unique.', 'nora.lindgren@sandbox.example')),
		first_name: text(about('Given name of the user.', 'Nora')),
		last_name: text(about('Family name of the user.', 'Lindgren')),
		name: z.string().meta(readOnly('First and last name or, if both are missing, the email address.', 'Nora Lindgren')),
		role: choiceOr(
			'member', ['owner', 'admin', 'member', 'viewer'],
			about(
				'What the user may do: owners and administrators see every record, viewers change none. Only owners decide who is an owner.',
				'member',
			),
		),
		status: choiceOr('invited', ['invited', 'active', 'deactivated'], about('Whether the user can sign in.', 'active')),
		timezone: timeZone(about('Time zone of the user, like Europe/Berlin.', 'Europe/Stockholm', { title: 'Time Zone' })),
		locale: languageTag(about('Language and region of the user, like en or de-AT.', 'sv-SE')),
		avatar_url: url(about('Web address of a picture of the user.', 'https://sandbox.example/people/nora.png')),
		last_seen_at: instant(readOnly('Time of the last sign-in. A sign-in does not change the version of the user.')),
		...systemFields('user'),
	},
	important: ['email', 'first_name', 'last_name', 'name', 'role', 'status'],
	unique: { email: ['email'] },
	sortable: ['name', 'last_name', 'email', 'last_seen_at'],
	searched: ['name', 'email'],
	lookups: ['role'],

	complete: (user) => ({ name: [user.first_name, user.last_name].filter(Boolean).join(' ') || user.email }),

	check: ownershipErrors,

	usedBy: ownerInUse,

	consequences: pauseWebhooks,

	endsAccess: ({ status }) => status !== 'active',

	// Records keep referring to the user, and history stays readable.
	insteadOfDeletion: { status: 'deactivated' },
});
