/** The answer to a delivery, as far as it tells what became of it: a response of Node.js. */
export interface DeliveryResponse {
	readonly statusCode: number;
	/** Whether the answer has been given. */
	readonly writableEnded: boolean;
	once(event: 'close', listener: () => void): unknown;
}

/** Enough for a burst, and few enough to be kept: about 2 MB. */
const mostKept = 20_000;

/**
 * What this process has been delivered. n8n keeps nothing that is written while an event starts a
 * workflow, so neither a restart nor another process of n8n knows of it: that is its limit.
 */
export class DeliveryMemory {
	private readonly answers = new Map<string, Pick<DeliveryResponse, 'statusCode' | 'writableEnded'>>();

	/**
	 * Takes a delivery in, unless it has been. One that n8n answered with an error started nothing:
	 * it may come again.
	 *
	 * @param key of the event and of the trigger it is for
	 * @returns `under way` while the answer to an earlier delivery is not given yet
	 */
	take(key: string, answer: DeliveryResponse): 'new' | 'under way' | 'known' {
		const earlier = this.answers.get(key);
		if (earlier && !earlier.writableEnded) return 'under way';
		if (earlier && earlier.statusCode < 400) return 'known';
		this.answers.delete(key);
		this.answers.set(key, answer);
		const [oldest] = this.answers.keys();
		if (this.answers.size > mostKept && oldest !== undefined) this.answers.delete(oldest);
		answer.once('close', () => this.shrink(key, answer));
		return 'new';
	}

	/** Keeps what the answer was, and not the connection it went through. */
	private shrink(key: string, answer: DeliveryResponse): void {
		const { statusCode, writableEnded } = answer;
		// Closed before it was answered: the sender gave up waiting, n8n may still be at work.
		if (!writableEnded || this.answers.get(key) !== answer) return;
		this.answers.set(key, { statusCode, writableEnded });
	}
}
