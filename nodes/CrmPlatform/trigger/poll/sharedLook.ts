import type { Clock } from '../../base/clock';
import type { Newest, Share } from '../../log/eventLog';

/** The newest event, when it was requested (Unix epoch ms), and the queries that follow, which triggers share. */
interface Look {
	newest: Promise<Newest | undefined>;
	at: number;
	share: Share;
}

/** The latest look at each log, per group of users who see the same events. */
const looks = new Map<string, Look>();

/** How long (ms) to keep a look that no trigger replaces: the longest interval. */
const maxTimeKept = 24 * 60 * 60_000;

/** Clears the memory of this process, as a restart would. */
export const forgetLooks = (): void => looks.clear();

/**
 * Looks for the newest event of a log, once for all triggers that look at about the same time: fifty idle
 * triggers cost no more than one.
 *
 * @param viewer equal for credentials that see the same events
 * @param maxAge maximum age of an answer in milliseconds
 */
export async function sharedLook(viewer: string, maxAge: number, clock: Clock, newest: () => Promise<Newest | undefined>) {
	const cachedLook = looks.get(viewer);
	const now = clock.now();
	const isFresh = cachedLook !== undefined && now >= cachedLook.at && now - cachedLook.at < maxAge;
	const look = isFresh ? cachedLook : { at: now, newest: newest(), share: sharing() };
	for (const [other, { at }] of looks) if (now - at > maxTimeKept) looks.delete(other);
	looks.set(viewer, look);
	// After a failure, the next caller queries the service.
	look.newest.catch(() => (looks.get(viewer) === look ? looks.delete(viewer) : undefined));
	return { ...look, newest: await look.newest };
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
