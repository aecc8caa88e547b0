import type { Member } from '../core/store/credentials/members.ts';

/** The users who can sign in to the sandbox. Their passwords are public: they and their records are made up. */
export const demoMembers: Array<Member & { password: string }> = [
	{
		id: 'usr_01hk2q5m8r4t6v9x2b5n7m3k1a',
		email: 'admin@crm-platform.example',
		name: 'Amira Keller',
		role: 'admin',
		password: 'sandbox-admin',
	},
	{
		id: 'usr_01hk2q5m8r4t6v9x2b5n7m3k1b',
		email: 'sales@crm-platform.example',
		name: 'Mateo Lindgren',
		role: 'member',
		password: 'sandbox-sales',
	},
];
