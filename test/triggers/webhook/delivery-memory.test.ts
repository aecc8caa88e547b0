import { EventEmitter } from 'node:events';

import { DeliveryMemory, type DeliveryResponse } from '../../../nodes/CrmPlatform/trigger/webhook/receive';

/** An answer that n8n has not given yet. */
class Pending extends EventEmitter implements DeliveryResponse {
	statusCode = 200;
	writableEnded = false;

	give(statusCode: number): void {
		this.statusCode = statusCode;
		this.writableEnded = true;
		this.emit('close');
	}
}

test('a retry of a sender that stopped waiting is held back until n8n has responded', () => {
	const deliveries = new DeliveryMemory();
	const answer = new Pending();
	deliveries.take('a', answer);
	answer.emit('close');
	expect(deliveries.take('a', new Pending())).toBe('under way');
	answer.give(200);
	expect(deliveries.take('a', new Pending())).toBe('known');
});

test('memory is bounded: the oldest are forgotten', () => {
	const deliveries = new DeliveryMemory();
	for (let i = 0; i <= 20_000; i++) {
		const answer = new Pending();
		deliveries.take(`${i}`, answer);
		answer.give(200);
	}
	expect(deliveries.take('1', new Pending())).toBe('known');
	expect(deliveries.take('0', new Pending())).toBe('new');
});
