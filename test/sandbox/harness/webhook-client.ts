import type { AppOptions } from '../../../sandbox/app.ts';
import { until } from '../../support/until.ts';
import { inProcess, type Json } from './in-process.ts';
import { type Receiver, startReceiver } from './receiver.ts';

export type WebhookSandbox = Awaited<ReturnType<typeof startWebhookSandbox>>;

/** A sandbox and a receiver of its webhooks, on this machine. */
export async function startWebhookSandbox(options?: Partial<AppOptions>) {
	const receiver = await startReceiver();
	const sandbox = inProcess({ allowPrivateWebhooks: true, faults: true, ...options });
	const { get, post, store } = sandbox;
	/** Subscribes the receiver. @returns the webhook with its secret */
	const subscribe = async (...events: string[]): Promise<Json> =>
		(await post('/v1/webhooks', { url: receiver.url, events })).body;
	/** Creates a contact, which is an event. */
	const happen = async (lastName = 'Moreno'): Promise<Json> =>
		(await post('/v1/contacts', { last_name: lastName })).body;
	/** Waits until `isSo` holds for all deliveries of a webhook. @returns them, oldest first */
	const deliveries = async (id: string, isSo: (delivery: Json) => boolean): Promise<Json[]> =>
		await until(async () => {
			const { data } = (await get(`/v1/webhooks/${id}/deliveries?limit=500`)).body;
			return data.length > 0 && data.every(isSo) && data.reverse();
		});
	return {
		...sandbox,
		receiver,
		subscribe,
		happen,
		/** Moves the clock of the service forward. */
		advance: (seconds: number) => post('/_sandbox/clock', { advance: seconds }),
		deliveries,
		/** Subscribes the receiver to new contacts, and waits for the first attempt of an event, which it answers so. */
		async firstAttempt(answer: Receiver['answer'], ...otherEvents: string[]): Promise<{ id: string; delivery: Json }> {
			receiver.answer = answer;
			const { id } = await subscribe('contact.created', ...otherEvents);
			await happen();
			const [delivery] = await deliveries(id, hasTried(1));
			return { id, delivery };
		},
		webhook: async (id: string): Promise<Json> => (await get(`/v1/webhooks/${id}`)).body,
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
