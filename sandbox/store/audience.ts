import type { Condition } from './condition.ts';

/** A set of users: those named, or everyone but those named. Administrators are told apart. */
export interface Audience {
	isEveryoneBut: boolean;
	users: readonly string[];
}

export const everyone: Audience = { isEveryoneBut: true, users: [] };

export const only = (...users: string[]): Audience => ({ isEveryoneBut: false, users });

export const hears = ({ isEveryoneBut, users }: Audience, user: string): boolean =>
	isEveryoneBut !== users.includes(user);

const others = ({ isEveryoneBut, users }: Audience): Audience => ({
	isEveryoneBut: !isEveryoneBut,
	users,
});

/** The users who are in both sets. */
export function both(one: Audience, other: Audience): Audience {
	if (!one.isEveryoneBut) return only(...one.users.filter((user) => hears(other, user)));
	if (!other.isEveryoneBut) return both(other, one);
	return { isEveryoneBut: true, users: [...new Set([...one.users, ...other.users])] };
}

/** The users who are in the first set and not in the second. */
export const without = (one: Audience, other: Audience): Audience => both(one, others(other));

/** The users who are in at least one of the sets. */
export const anyOf = (sets: Audience[]): Audience => others(sets.map(others).reduce(both, everyone));

export const isNobody = ({ isEveryoneBut, users }: Audience): boolean =>
	!isEveryoneBut && users.length === 0;

/** As it is kept: ids with spaces between them, behind an exclamation mark for everyone but these. */
export const audienceText = ({ isEveryoneBut, users }: Audience): string =>
	[...(isEveryoneBut ? ['!'] : []), ...users].join(' ') || '-';

/** @param text an empty one, of older files, means everyone */
export function parseAudience(text: string): Audience {
	const users = text.split(' ').filter((part) => part !== '' && part !== '!' && part !== '-');
	return { isEveryoneBut: text === '' || text.startsWith('!'), users };
}

/** What holds for the texts, in a column `seen_by`, of the audiences that a user is in. */
export const heardBy = (user: string): Condition => ({
	sql: "(seen_by = '' OR seen_by LIKE '!%') <> (instr(' ' || seen_by || ' ', ?) > 0)",
	values: [` ${user} `],
});
