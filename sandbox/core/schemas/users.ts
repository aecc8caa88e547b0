import { z } from 'zod/v4';
import { about, choiceOr, emailAddress, instant, readOnly, text, url } from './fields.ts';
import { languageTag, timeZone } from './profile.ts';
import { systemFields } from './record.ts';
import { defineResource } from './resource.ts';
import { ownerInUse, ownershipErrors, pauseWebhooks } from './user-rules.ts';

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
	unversioned: ['last_seen_at'],

	complete: (user) => ({ name: [user.first_name, user.last_name].filter(Boolean).join(' ') || user.email }),

	check: ownershipErrors,

	usedBy: ownerInUse,

	consequences: pauseWebhooks,

	endsAccess: ({ status }) => status !== 'active',

	// Records keep referring to the user, and history stays readable.
	insteadOfDeletion: { status: 'deactivated' },
});
