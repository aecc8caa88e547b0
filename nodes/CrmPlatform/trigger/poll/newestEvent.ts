import type { Clock } from '../../base/clock';
import { RecentMap } from '../../base/maps';
import type { Newest } from '../../log/eventLog';
import type { Access } from './access';

/** The latest request for the newest event, and when it was sent (Unix epoch ms), per viewer. */
let requests = new RecentMap<string, { newest: Promise<Newest | undefined>; requestedAt: number }>(1_000);

/** Clears the memory of this process, as a restart would. */
export function forgetNewest(): void {
	requests = new RecentMap(1_000);
}

/**
 * Reads the newest event of a log, once for all triggers that ask at about the same time.
 *
 * @param maxAge maximum age of an answer in milliseconds
 * @returns the newest event, and when it was requested (Unix epoch ms)
 */
export async function sharedNewest({ api: { viewer }, log }: Access, maxAge: number, clock: Clock) {
	const now = clock.now();
	const previous = requests.get(viewer);
	const request = previous && now - previous.requestedAt < maxAge ? previous : { newest: log.newest(), requestedAt: now };
	requests.set(viewer, request);
	// After a failure, the next caller queries the service.
	request.newest.catch(() => (requests.get(viewer) === request ? requests.delete(viewer) : undefined));
	return { newest: await request.newest, requestedAt: request.requestedAt };
}
