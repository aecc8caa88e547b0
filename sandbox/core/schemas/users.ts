import { z } from 'zod/v4';
import { choiceOr, emailAddress, instant, text, url } from './fields.ts';
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
		email: emailAddress.meta({
			title: 'Email',
			description: 'Email address to sign in with; unique.',
			examples: ['nora.lindgren@sandbox.example'],
		}),
		first_name: text({ title: 'First Name', description: 'Given name of the user.', examples: ['Nora'] }),
		last_name: text({ title: 'Last Name', description: 'Family name of the user.', examples: ['Lindgren'] }),
		name: z.string().meta({
			title: 'Name',
			description: 'First and last name or, if both are missing, the email address.',
			examples: ['Nora Lindgren'],
			readOnly: true,
		}),
		role: choiceOr('member', ['owner', 'admin', 'member', 'viewer'], {
			title: 'Role',
			description:
				'What the user may do: owners and administrators see every record, viewers change none. ' +
				'Only owners decide who is an owner.',
			examples: ['member'],
		}),
		status: choiceOr('invited', ['invited', 'active', 'deactivated'], {
			title: 'Status',
			description: 'Whether the user can sign in.',
			examples: ['active'],
		}),
		timezone: timeZone({
			title: 'Time Zone',
			description: 'Time zone of the user, like Europe/Berlin.',
			examples: ['Europe/Stockholm'],
		}),
		locale: languageTag({ title: 'Locale', description: 'Language and region of the user, like en or de-AT.', examples: ['sv-SE'] }),
		avatar_url: url({
			title: 'Avatar URL',
			description: 'Web address of a picture of the user.',
			examples: ['https://sandbox.example/people/nora.png'],
		}),
		last_seen_at: instant({
			title: 'Last Seen At',
			description: 'Time of the last sign-in. A sign-in does not change the version of the user.',
			readOnly: true,
		}),
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
