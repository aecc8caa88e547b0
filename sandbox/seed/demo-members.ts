import type { Member } from '../core/store/credentials/members.ts';
import type { Store } from '../core/store/store.ts';

interface DemoMember extends Member {
	/** Public: the members and their records are made up. */
	password: string;
	/** The hash of the password, computed in advance because it takes long. */
	hash: string;
}

/** The users who can sign in to the sandbox. */
export const demoMembers: DemoMember[] = [
	{
		id: 'usr_01hk2q5m8r4t6v9x2b5n7m3k1a',
		email: 'admin@crm-platform.example',
		name: 'Amira Keller',
		role: 'admin',
		password: 'sandbox-admin',
		hash: 'scrypt$16384$8$5$qyB_pA38WO6-ViZ2HtB1kg$HOvy0Xm9I2Y_h_8K_PFYf7x-BGHKx7rRaZFXoOrGNpA',
	},
	{
		id: 'usr_01hk2q5m8r4t6v9x2b5n7m3k1b',
		email: 'sales@crm-platform.example',
		name: 'Mateo Lindgren',
		role: 'member',
		password: 'sandbox-sales',
		hash: 'scrypt$16384$8$5$J_pXb06XT_zfFogoJtwIXQ$RY-8gp11PcIvK7tXMqFmk2zzgcA4Se0xerphtjwI8E4',
	},
];

export function seedMembers({ members }: Store): void {
	for (const { id, hash } of demoMembers) members.add(id, hash);
}
