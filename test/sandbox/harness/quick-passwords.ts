import { scryptSync } from 'node:crypto';
import { demoMembers } from '../../../sandbox/seed/demo-members.ts';

// A hash takes 200 ms on purpose. Tests sign in hundreds of times, and few of them are about passwords.
const salt = 'tests';
for (const member of demoMembers) {
	const hash = scryptSync(member.password, Buffer.from(salt, 'base64url'), 32, { N: 2, r: 1, p: 1 });
	member.hash = `scrypt$2$1$1$${salt}$${hash.toString('base64url')}`;
}
