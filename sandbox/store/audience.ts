import type { Condition } from './condition.ts';

/** A set of users: those named, or everyone but those named. Administrators are told apart. */
export interface Audience {
	isEveryoneBut: boolean;
	users: readonly string[];
}

export const everyone: Audience = { isEveryoneBut: true, users: [] };

export const onlyUsers = (...users: string[]): Audience => ({ isEveryoneBut: false, users });

export const isInAudience = ({ isEveryoneBut, users }: Audience, user: string): boolean =>
	isEveryoneBut !== users.includes(user);

const complementOf = ({ isEveryoneBut, users }: Audience): Audience => ({
	isEveryoneBut: !isEveryoneBut,
	users,
});

/** The users who are in both sets. */
export function intersectionOf(one: Audience, other: Audience): Audience {
	if (!one.isEveryoneBut) return onlyUsers(...one.users.filter((user) => isInAudience(other, user)));
	if (!other.isEveryoneBut) return intersectionOf(other, one);
	return { isEveryoneBut: true, users: [...new Set([...one.users, ...other.users])] };
}

/** The users who are in the first set and not in the second. */
export const subtract = (one: Audience, other: Audience): Audience => intersectionOf(one, complementOf(other));

/** The users who are in at least one of the sets. */
export const unionOf = (sets: Audience[]): Audience => complementOf(sets.map(complementOf).reduce(intersectionOf, everyone));

export const isEmptyAudience = ({ isEveryoneBut, users }: Audience): boolean =>
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
export const audienceIncludes = (user: string): Condition => ({
	sql: "(seen_by = '' OR seen_by LIKE '!%') <> (instr(' ' || seen_by || ' ', ?) > 0)",
	values: [` ${user} `],
});
