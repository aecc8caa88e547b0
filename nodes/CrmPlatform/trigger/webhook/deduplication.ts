import { RecentMap } from '../../base/maps';

/** The part of Node.js's response that shows how a delivery was answered. */
export interface DeliveryResponse {
	readonly statusCode: number;
	/** Whether it has been answered. */
	readonly writableEnded: boolean;
	once(event: 'close', listener: () => void): unknown;
}

/** Maximum number of deliveries to remember: enough for a burst, in about 2 MB of memory. */
const capacity = 20_000;

/**
 * Deduplicates deliveries within this process. n8n does not store what a webhook writes while it starts a
 * workflow, so the memory is lost at a restart and unknown to other processes of n8n.
 */
export class DeliveryMemory {
	private readonly deliveries = new RecentMap<string, Delivery>(capacity);

	/**
	 * Registers a delivery. A delivery that n8n answered with an error started nothing, so it counts as new.
	 *
	 * @param key a key of the event and of the trigger that it is for
	 * @returns `under way` while the previous delivery of the event is still unanswered
	 */
	take(key: string, answer: DeliveryResponse): 'new' | 'under way' | 'known' {
		const previous = this.deliveries.get(key)?.answer;
		if (previous && !previous.writableEnded) return 'under way';
		if (previous && previous.statusCode < 400) return 'known';
		const delivery: Delivery = { answer };
		this.deliveries.set(key, delivery);
		answer.once('close', () => {
			const { statusCode, writableEnded } = answer;
			// If the connection was closed before it was answered, the sender gave up, and n8n may still be starting the workflow.
			if (writableEnded) delivery.answer = { statusCode, writableEnded };
		});
		return 'new';
	}
}

interface Delivery {
	/** The status; until it has been sent, that of the open connection. */
	answer: Pick<DeliveryResponse, 'statusCode' | 'writableEnded'>;
}
