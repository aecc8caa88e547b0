/**
 * Milliseconds for which deliveries are refused before the user is told. The watch looks at the subscription every
 * ten minutes, and puts right what the service shows.
 */
const untilTold = 20 * 60_000;

/** More triggers than any n8n has. */
const capacity = 10_000;

interface Refusals {
	/** When the first was refused (Unix epoch ms). */
	since: number;
	isTold: boolean;
}

/**
 * Remembers since when a trigger refuses deliveries for nothing but their signature, so that a wrong secret is
 * told where the service shows nothing of it. Each process of n8n knows of its own deliveries only.
 */
export class RefusalMemory {
	private readonly refusals = new Map<string, Refusals>();

	/** Notes a genuine delivery: the secret is right. */
	accept(trigger: string): void {
		this.refusals.delete(trigger);
	}

	/** @returns whether to tell the user, once until a delivery is accepted */
	refuse(trigger: string, now: number): boolean {
		const known = this.refusals.get(trigger) ?? { since: now, isTold: false };
		if (this.refusals.size >= capacity) this.refusals.clear();
		const isDue = !known.isTold && now - known.since >= untilTold;
		this.refusals.set(trigger, { ...known, isTold: known.isTold || isDue });
		return isDue;
	}
}
