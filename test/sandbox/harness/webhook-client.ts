import type { AppOptions } from '../../../sandbox/app.ts';
import { until } from '../../support/until.ts';
import { inProcess, type InProcess, type Json, type Reply } from './in-process.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** A sandbox and a receiver of its webhooks, on this machine. */
export interface WebhookSandbox extends InProcess {
	receiver: Receiver;
	/** Subscribes the receiver. @returns the webhook with its secret */
	subscribe(...events: string[]): Promise<Json>;
	/** Creates a contact, which is an event. */
	happen(lastName?: string): Promise<Json>;
	/** Moves the clock of the service forward. */
	advance(seconds: number): Promise<Reply>;
	/** Waits until `isSo` holds for all deliveries of a webhook. @returns them, oldest first */
	deliveries(id: string, isSo: (delivery: Json) => boolean): Promise<Json[]>;
	/** Subscribes the receiver to new contacts, and waits for the first attempt of an event, which it answers so. */
	firstAttempt(answer: Receiver['answer'], ...otherEvents: string[]): Promise<{ id: string; delivery: Json }>;
	webhook(id: string): Promise<Json>;
	close(): Promise<void>;
}

export async function startWebhookSandbox(options?: Partial<AppOptions>): Promise<WebhookSandbox> {
	const receiver = await startReceiver();
	const sandbox = inProcess({ allowPrivateWebhooks: true, faults: true, ...options });
	const { get, post, store } = sandbox;
	const subscribe: WebhookSandbox['subscribe'] = async (...events) =>
		(await post('/v1/webhooks', { url: receiver.url, events })).body;
	const happen: WebhookSandbox['happen'] = async (lastName = 'Moreno') =>
		(await post('/v1/contacts', { last_name: lastName })).body;
	const deliveries: WebhookSandbox['deliveries'] = async (id, isSo) =>
		await until(async () => {
			const { data } = (await get(`/v1/webhooks/${id}/deliveries?limit=500`)).body;
			return data.length > 0 && data.every(isSo) && data.reverse();
		});
	return {
		...sandbox,
		receiver,
		subscribe,
		happen,
		advance: (seconds) => post('/_sandbox/clock', { advance: seconds }),
		deliveries,
		async firstAttempt(answer, ...otherEvents) {
			receiver.answer = answer;
			const { id } = await subscribe('contact.created', ...otherEvents);
			await happen();
			const [delivery] = await deliveries(id, hasTried(1));
			return { id, delivery };
		},
		webhook: async (id) => (await get(`/v1/webhooks/${id}`)).body,
		async close() {
			store.close();
			await receiver.close();
		},
	};
}

export const seconds = { minute: 60, hour: 3600, day: 86_400 };

export const isDone = ({ status }: Json): boolean => status === 'succeeded';

/** Whether a delivery has had a number of attempts. */
export const hasTried =
	(times: number) =>
	({ attempts }: Json): boolean =>
		attempts.length === times;

/** Answers every request with a status. */
export const answering =
	(status: number, headers: Record<string, string> = {}): Receiver['answer'] =>
	(_request, response) =>
		void response.writeHead(status, headers).end();
