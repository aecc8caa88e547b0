import { demoMembers } from './demo-members.ts';
import { slug } from './people.ts';

const team = [
	['Amira', 'Keller', 'owner', 'active', 'Europe/Berlin', 'de-DE'],
	['Tom', 'Fletcher', 'admin', 'active', 'Europe/London', 'en-GB'],
	['Mateo', 'Lindgren', 'member', 'active', 'Europe/Madrid', 'es-ES'],
	['Luc', 'Girard', 'member', 'active', 'Europe/Paris', 'fr-FR'],
	['Emily', 'Carter', 'member', 'active', 'America/New_York', 'en-US'],
	['Giulia', 'Conti', 'member', 'active', 'Europe/Rome', 'it-IT'],
	['Piet', 'de Vries', 'member', 'deactivated', 'Europe/Amsterdam', 'nl-NL'],
	['Hana', 'Suzuki', 'viewer', 'invited', 'Asia/Tokyo', 'ja-JP'],
] as const;

export const userCount = team.length;

/**
 * The values of a user of the account; the first one is its owner. Users who can sign in have the ids
 * of the demo members.
 */
export function userSeed(i: number, end: number): Record<string, unknown> {
	const [first, last, role, status, timezone, locale] = team[i]!;
	const name = `${first} ${last}`;
	const member = demoMembers.find((candidate) => candidate.name === name);
	return {
		...(member && { id: member.id }),
		email: member?.email ?? `${slug(first)}.${slug(last)}@sandbox.example`,
		first_name: first,
		last_name: last,
		name,
		role,
		status,
		timezone,
		locale,
		last_seen_at: status === 'active' ? new Date(end - (2 + i) * 60 * 60 * 1000).toISOString() : null,
	};
}
