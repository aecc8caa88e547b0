import type { Clock } from '../../api/http/clock';
import type { Newest } from '../../api/eventLog';
import type { Look } from './logWatch';

/** The latest look at each log, by whoever sees the same events. */
const looks = new Map<string, { at: number; newest: Promise<Newest | undefined> }>();

/** Clears the memory of this process, as a restart would. */
export const forgetLooks = (): void => looks.clear();

/**
 * Looks for the newest event of a log, once for all triggers that ask at about the same time: fifty
 * idle triggers cost no more than one.
 *
 * @param view the same for those who see the same events
 * @param longest milliseconds for which an answer will do
 */
export async function sharedLook(
	view: string,
	longest: number,
	clock: Clock,
	newest: () => Promise<Newest | undefined>,
): Promise<Look<Newest>> {
	const known = looks.get(view);
	const now = clock.now();
	const isFresh = known !== undefined && now >= known.at && now - known.at < longest;
	const look = isFresh ? known : { at: now, newest: newest() };
	looks.set(view, look);
	// After a failure, whoever asks next asks the service.
	look.newest.catch(() => (looks.get(view) === look ? looks.delete(view) : undefined));
	return { at: look.at, newest: await look.newest };
}

/** Milliseconds until all triggers with this interval look again, at the same time. */
export const untilNextLook = (interval: number, now: number): number => interval - (now % interval);
