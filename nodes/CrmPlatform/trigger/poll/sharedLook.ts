import type { Clock } from '../../base/clock';
import type { Newest, Share } from '../../log/eventLog';
import type { Look } from './logWatch';

/** A look that several triggers share, with the queries that follow it. */
export interface SharedLook extends Look<Newest> {
	share: Share;
}

/** The latest look at each log, per group of users who see the same events. */
const looks = new Map<string, { at: number; newest: Promise<Newest | undefined>; share: Share }>();

/** How long (ms) to keep a look that no trigger replaces: the longest interval. */
const maxTimeKept = 24 * 60 * 60_000;

/** Clears the memory of this process, as a restart would. */
export const forgetLooks = (): void => looks.clear();

/**
 * Looks for the newest event of a log, once for all triggers that look at about the same time: fifty idle
 * triggers cost no more than one.
 *
 * @param view equal for credentials that see the same events
 * @param maxAge maximum age of an answer in milliseconds
 */
export async function sharedLook(
	view: string,
	maxAge: number,
	clock: Clock,
	newest: () => Promise<Newest | undefined>,
): Promise<SharedLook> {
	const cachedLook = looks.get(view);
	const now = clock.now();
	const isFresh = cachedLook !== undefined && now >= cachedLook.at && now - cachedLook.at < maxAge;
	const look = isFresh ? cachedLook : { at: now, newest: newest(), share: sharing() };
	for (const [other, { at }] of looks) if (now - at > maxTimeKept) looks.delete(other);
	looks.set(view, look);
	// After a failure, the next caller queries the service.
	look.newest.catch(() => (looks.get(view) === look ? looks.delete(view) : undefined));
	return { at: look.at, newest: await look.newest, share: look.share };
}

/** Shares queries that were made since a look. A failure affects only the triggers that were waiting for the query. */
function sharing(): Share {
	const answers = new Map<string, Promise<unknown>>();
	return async <Answer>(question: string, ask: () => Promise<Answer>) => {
		let answer = answers.get(question) as Promise<Answer> | undefined;
		if (!answer) {
			answer = ask();
			answers.set(question, answer);
			answer.catch(() => answers.delete(question));
		}
		return await answer;
	};
}

/** Milliseconds until all triggers with this interval look again, at the same time. */
export const untilNextLook = (interval: number, now: number): number => interval - (now % interval);
