import type { StoredRecord } from '../core/schemas/resource.ts';
import type { Random } from './random.ts';
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

/**
 * Assigns owners to records, and tags to some of them.
 *
 * @returns `assign`, which yields the records with them, and `usage`, which returns the number of records with a tag
 */
export function ownersAndTags(random: Random, team: StoredRecord[], tags: StoredRecord[]) {
	const usage = new Map<string, number>();
	return {
		*assign(records: Iterable<StoredRecord>): Generator<StoredRecord> {
			for (const record of records) {
				const tagIds = someTags(random, tags);
				for (const id of tagIds) usage.set(id, (usage.get(id) ?? 0) + 1);
				const owner = random.chance(0.85) ? random.pick(team).id : null;
				yield { ...record, ...('owner_id' in record && { owner_id: owner }), tag_ids: tagIds };
			}
		},
		usage: ({ id }: StoredRecord): number => usage.get(id) ?? 0,
	};
}

/** Chooses tags: none for most records, one for some, two for a few. */
function someTags(random: Random, tags: StoredRecord[]): string[] {
	if (random.chance(0.6)) return [];
	const picked = [random.pick(tags), ...(random.chance(0.25) ? [random.pick(tags)] : [])];
	return [...new Set(picked.map(({ id }) => id))];
}

/** Name, color, description. */
const labels = [
	['Newsletter', '#2f80ed', 'Gets the monthly newsletter.'],
	['Key Account', '#eb5757', 'Is looked after by a manager of their own.'],
	['Partner', '#27ae60', 'Sells together with us.'],
	['Trade Fair 2024', '#9b51e0', 'Met at the trade fair in 2024.'],
	['Reference', '#f2994a', 'Agreed to be named as a reference.'],
	['Do Not Call', '#828282', 'Wants to be written to only.'],
] as const;

export const tagCount = labels.length;

export function tagSeed(i: number): Record<string, unknown> {
	const [name, color, description] = labels[i]!;
	return { name, color, description, usage: 0 };
}
