import type { Condition } from '../records/condition.ts';

/** A set of users: those listed, or everyone except those listed. Administrators are not part of it. */
export interface Audience {
	isEveryoneBut: boolean;
	users: readonly string[];
}

export const everyone: Audience = { isEveryoneBut: true, users: [] };

export const onlyUsers = (...users: string[]): Audience => ({ isEveryoneBut: false, users });

export const isInAudience = ({ isEveryoneBut, users }: Audience, user: string): boolean =>
	isEveryoneBut !== users.includes(user);

const complementOf = ({ isEveryoneBut, users }: Audience): Audience => ({ isEveryoneBut: !isEveryoneBut, users });

/** The users in both sets. */
export function intersectionOf(first: Audience, second: Audience): Audience {
	if (!first.isEveryoneBut) return onlyUsers(...first.users.filter((user) => isInAudience(second, user)));
	if (!second.isEveryoneBut) return intersectionOf(second, first);
	return { isEveryoneBut: true, users: [...new Set([...first.users, ...second.users])] };
}

/** The users in the first set who are not in the second. */
export const subtract = (first: Audience, second: Audience): Audience => intersectionOf(first, complementOf(second));

/** The users in at least one of the sets. */
export const unionOf = (sets: Audience[]): Audience => complementOf(sets.map(complementOf).reduce(intersectionOf, everyone));

export const isEmptyAudience = ({ isEveryoneBut, users }: Audience): boolean => !isEveryoneBut && users.length === 0;

/** Serializes an audience: ids separated by spaces, after a `!` for everyone except these. */
export const audienceText = ({ isEveryoneBut, users }: Audience): string =>
	[...(isEveryoneBut ? ['!'] : []), ...users].join(' ') || '-';

/** @param text from `audienceText` */
export function parseAudience(text: string): Audience {
	const users = text.split(' ').filter((part) => part !== '' && part !== '!' && part !== '-');
	return { isEveryoneBut: text.startsWith('!'), users };
}

/** Matches rows whose column `seen_by` holds an audience that includes a user. */
export const audienceIncludes = (user: string): Condition => ({
	sql: "(seen_by LIKE '!%') <> (instr(' ' || seen_by || ' ', ?) > 0)",
	values: [` ${user} `],
});
