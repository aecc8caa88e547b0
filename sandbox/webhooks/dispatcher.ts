import { catchUp } from '../collection/passing.ts';
import { changeRecord } from '../collection/write.ts';
import { eventJson } from '../events/event.ts';
import { type Webhook, webhooks } from '../schemas/webhooks.ts';
import type { Service } from '../service.ts';
import type { Delivery } from '../store/deliveries.ts';
import { type Outcome, post } from './post.ts';
import { activeWebhooks } from './queue.ts';
import { nextDelay, patienceMs } from './schedule.ts';
import { signedHeaders } from './sign.ts';

const atOncePerWebhook = 10;
const lookEveryMs = 1000;
const actor = { type: 'system', id: 'webhooks' };

/**
 * Sends what is due. All there is to know is in the store, so that a restart goes on: what was under
 * way when the process ended is sent again.
 */
export class Dispatcher {
	private readonly service: Service;
	private readonly isPrivateAllowed: boolean;
	private readonly sending = new Set<Delivery>();
	private isWoken = false;
	private timer: NodeJS.Timeout | undefined;

	constructor(service: Service, isPrivateAllowed: boolean) {
		this.service = service;
		this.isPrivateAllowed = isPrivateAllowed;
		service.store.deliveries.onQueued = () => this.wake();
		this.wake();
	}

	/** Looks for work, as soon as what is going on now is done. */
	wake(): void {
		if (this.isWoken) return;
		this.isWoken = true;
		setImmediate(() => {
			this.isWoken = false;
			this.work();
		});
	}

	/**
	 * Sends one event now, whatever the subscription's status is.
	 *
	 * @returns the delivery with this attempt
	 */
	async attempt(webhook: Webhook, delivery: Delivery): Promise<[Delivery, Outcome]> {
		const { store, now } = this.service;
		const startedAt = now();
		const begin = performance.now();
		const event = store.events.find(delivery.sequence);
		const body = eventJson(event);
		const secrets = store.webhookSecrets.list(webhook.id, startedAt);
		// The receiver's clock is the real one, whatever the service's was moved to.
		const headers = signedHeaders(event.id, body, secrets, Date.now());
		const { isPrivateAllowed } = this;
		const outcome = await post(webhook.url, body, headers, isPrivateAllowed, store.closed);
		const attempt = {
			started_at: new Date(startedAt).toISOString(),
			duration_ms: Math.round(performance.now() - begin),
			response_status: outcome.status,
			error: outcome.error,
		};
		const status = outcome.error === null ? 'succeeded' : 'failed';
		const attempts = [...delivery.attempts, attempt];
		return [{ ...delivery, status, nextAttemptAt: null, attempts }, outcome];
	}

	private work(): void {
		const { service } = this;
		clearTimeout(this.timer);
		if (!service.store.isOpen) return;
		const active = activeWebhooks(service.store);
		if (active.length === 0) return;
		// Retries become due. It keeps no process alive, so that stopping need not wait for it.
		this.timer = setTimeout(() => this.work(), lookEveryMs).unref();
		try {
			for (const webhook of active) this.fill(webhook);
			// What time alone does is an event as well, and with subscriptions somebody waits for it.
			catchUp(service).catch(console.error);
		} catch (error) {
			console.error(error);
		}
	}

	/** Sends to one subscription as much at once as it may get; a slow one holds up no other. */
	private fill(webhook: Webhook): void {
		const { store, now } = this.service;
		const sending = [...this.sending].filter(({ webhookId }) => webhookId === webhook.id);
		const due = (isRecovered: boolean, limit: number) =>
			store.deliveries
				.due(webhook.id, isRecovered, now(), limit)
				.filter(({ id }) => !sending.some((one) => one.id === id));
		// What was recovered goes one by one, to arrive in sequence.
		const isRecovering = sending.some(({ isRecovered }) => isRecovered);
		const next = [...(isRecovering ? [] : due(true, 1)), ...due(false, atOncePerWebhook)];
		for (const delivery of next.slice(0, atOncePerWebhook - sending.length)) {
			this.sending.add(delivery);
			this.send(webhook, delivery)
				.catch(console.error)
				.finally(() => {
					this.sending.delete(delivery);
					this.wake();
				});
		}
	}

	private async send(webhook: Webhook, delivery: Delivery): Promise<void> {
		const [attempted, outcome] = await this.attempt(webhook, delivery);
		const { store } = this.service;
		if (!store.isOpen) return;
		store.transaction(() => {
			const current = store.table(webhooks.name)!.find(webhook.id) as Webhook | undefined;
			// Deleted meanwhile, and its deliveries with it.
			if (!current) return;
			if (outcome.error === null) this.succeed(current, attempted);
			else this.fail(current, attempted, outcome);
		});
	}

	private succeed(webhook: Webhook, delivery: Delivery): void {
		const { store, now } = this.service;
		store.deliveries.save(delivery);
		const at = new Date(now()).toISOString();
		store.table(webhooks.name)!.save({ ...webhook, failing_since: null, last_success_at: at });
	}

	private fail(webhook: Webhook, delivery: Delivery, outcome: Outcome): void {
		const { store } = this.service;
		const now = this.service.now();
		const isGone = outcome.status === 410;
		const since = webhook.failing_since ?? new Date(now).toISOString();
		const isHopeless = now - Date.parse(since) >= patienceMs;
		const delay = nextDelay(delivery.attempts.length, outcome.retryAfter, now);
		const isLast = isGone || isHopeless || delay === undefined || webhook.status === 'disabled';
		store.deliveries.save(
			isLast ? delivery : { ...delivery, status: 'pending', nextAttemptAt: now + delay },
		);
		const failing = { ...webhook, failing_since: since };
		store.table(webhooks.name)!.save(failing);
		if (webhook.status === 'disabled' || !(isGone || isHopeless)) return;
		const change = { status: 'disabled', disabled_reason: isGone ? 'gone' : 'failures' };
		const writing = { ...this.service, resource: webhooks, actor, request: null, now };
		changeRecord(writing, failing, change, true);
		store.deliveries.failPending(webhook.id);
	}
}
