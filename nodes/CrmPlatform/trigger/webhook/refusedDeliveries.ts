import { RecentMap } from '../../base/maps';

/**
 * Milliseconds of refused deliveries before the user is notified. The watch checks the subscription every ten
 * minutes, and repairs what the service shows.
 */
const reportAfter = 20 * 60_000;

/** Maximum number of triggers to remember: more than any n8n has. */
const capacity = 10_000;

interface Refusals {
	/** When the first was refused (Unix epoch ms). */
	since: number;
	isReported: boolean;
}

/**
 * Remembers since when a trigger refuses deliveries only because of their signature, so that a wrong secret is
 * reported even if the service does not show it. Each process of n8n knows only its own deliveries.
 */
export class RefusedDeliveries {
	private readonly refusals = new RecentMap<string, Refusals>(capacity);

	/** Notes a genuine delivery: the secret is right. */
	accept(trigger: string): void {
		this.refusals.delete(trigger);
	}

	/** @returns whether to notify the user: once, until a delivery is accepted again */
	refuse(trigger: string, now: number): boolean {
		const entry = this.refusals.get(trigger) ?? { since: now, isReported: false };
		const isDue = !entry.isReported && now - entry.since >= reportAfter;
		this.refusals.set(trigger, { ...entry, isReported: entry.isReported || isDue });
		return isDue;
	}
}
