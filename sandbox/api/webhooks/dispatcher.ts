import { applyDueTransitions } from '../../domain/records/due-transitions.ts';
import { changeByService } from '../../domain/records/write.ts';
import { eventJson } from '../../domain/events/event-types.ts';
import { type Webhook, webhooks, type Delivery } from '../../core/schemas/webhooks.ts';
import type { Service } from '../../core/service.ts';
import { type Outcome, post } from './post.ts';
import { activeWebhooks, explainRefusal } from '../../domain/events/delivery-queue.ts';
import { Webhook as Signer } from 'standardwebhooks';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** The delay after each failed attempt: the schedule of Standard Webhooks 1.0.0. */
const retryDelays = [
	5 * second,
	5 * minute,
	30 * minute,
	2 * hour,
	5 * hour,
	10 * hour,
	14 * hour,
	20 * hour,
	24 * hour,
] as const;

/** A subscription that fails for this long is disabled. */
export const disableAfterMs = 5 * 24 * hour;

const spread = 0.1;
const maxWait = 24 * hour;

/**
 * Returns the delay before the next attempt, with jitter, so that deliveries that failed together are
 * not retried together.
 *
 * @param failed the number of failed attempts, at least 1
 * @param retryAfter the receiver's header, respected up to a day
 * @returns milliseconds; undefined after the last attempt
 */
function nextDelay(
	failed: number,
	retryAfter: string | null,
	now: number,
): number | undefined {
	const delay = retryDelays[failed - 1];
	if (delay === undefined) return undefined;
	const requestedDelay = Math.min(parseRetryAfter(retryAfter, now), maxWait);
	return Math.max(delay * (1 - spread + 2 * spread * Math.random()), requestedDelay);
}

/** Parses seconds or a date (RFC 9110, 10.2.3) to milliseconds; 0 if it is invalid. */
function parseRetryAfter(value: string | null, now: number): number {
	if (value === null) return 0;
	if (/^\d+$/.test(value)) return Number(value) * second;
	return Math.max(0, Date.parse(value) - now || 0);
}

/** Maximum number of deliveries to one webhook at the same time. */
const atOncePerWebhook = 10;
/** How often to look for retries that have become due. */
const lookEveryMs = 1000;
/** The service itself, as the actor of its changes of webhooks. */
const actor = { type: 'system', id: 'webhooks' };

/**
 * Sends the deliveries that are due. Its whole state is in the store, so a restart resumes the work:
 * deliveries that were in progress are sent again.
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

	/** Schedules a look for due deliveries in the next turn of the event loop. */
	wake(): void {
		if (this.isWoken) return;
		this.isWoken = true;
		setImmediate(() => {
			this.isWoken = false;
			this.work();
		});
	}

	/**
	 * Sends one event now, regardless of the subscription's status.
	 *
	 * @returns the delivery with this attempt, and its outcome
	 */
	async attempt(webhook: Webhook, delivery: Delivery): Promise<[Delivery, Outcome]> {
		const { store, now } = this.service;
		const startedAt = now();
		const begin = performance.now();
		const event = store.events.find(delivery.sequence);
		const body = eventJson(event);
		const secrets = store.webhookSecrets.list(webhook.id, startedAt);
		// Real time, because receivers compare it with their own clock; the service's clock may have been advanced.
		const headers = signedHeaders(event.id, body, secrets, Date.now());
		const outcome = await post(webhook.url, body, headers, this.isPrivateAllowed, store.closed);
		return [afterAttempt(delivery, startedAt, performance.now() - begin, outcome), outcome];
	}

	private work(): void {
		const { service } = this;
		clearTimeout(this.timer);
		if (!service.store.isOpen) return;
		const active = activeWebhooks(service.store);
		if (active.length === 0) return;
		// Polls for retries that become due. The timer does not keep the process alive, so it does not delay shutdown.
		this.timer = setTimeout(() => this.work(), lookEveryMs).unref();
		try {
			for (const webhook of active) this.fill(webhook);
			// Timed transitions cause events too, and active subscriptions wait for them.
			applyDueTransitions(service);
		} catch (error) {
			console.error(error);
		}
	}

	/** Starts deliveries up to the limit of one subscription, so that a slow receiver does not delay others. */
	private fill(webhook: Webhook): void {
		const { store, now } = this.service;
		const sending = [...this.sending].filter(({ webhookId }) => webhookId === webhook.id);
		const due = (isRecovered: boolean, limit: number) =>
			store.deliveries.due(webhook.id, isRecovered, now(), limit)
				.filter(({ id }) => !sending.some((delivery) => delivery.id === id));
		// Recovered events are sent one at a time, to arrive in sequence.
		const isRecovering = sending.some(({ isRecovered }) => isRecovered);
		const next = [...(isRecovering ? [] : due(true, 1)), ...due(false, atOncePerWebhook)];
		for (const delivery of next.slice(0, atOncePerWebhook - sending.length)) {
			this.sending.add(delivery);
			this.send(webhook, delivery).catch(console.error).finally(() => {
				this.sending.delete(delivery);
				this.wake();
			});
		}
	}

	private async send(webhook: Webhook, delivery: Delivery): Promise<void> {
		if (this.refuse(webhook, delivery)) return;
		const [attempted, outcome] = await this.attempt(webhook, delivery);
		const { store } = this.service;
		if (!store.isOpen) return;
		store.transaction(() => {
			const current = store.table(webhooks.name)!.find(webhook.id) as Webhook | undefined;
			// The webhook was deleted in the meantime, together with its deliveries.
			if (!current) return;
			if (outcome.error === null) this.succeed(current, attempted);
			else this.fail(current, attempted, outcome);
		});
	}

	/** Fails a delivery without sending it if its receiver may no longer get it. */
	private refuse(webhook: Webhook, delivery: Delivery): boolean {
		const { store, now } = this.service;
		const error = explainRefusal(store, webhook, store.events.find(delivery.sequence));
		if (error === undefined) return false;
		store.deliveries.save(afterAttempt(delivery, now(), 0, { status: null, error: `Not sent. ${error}` }));
		return true;
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
		const isHopeless = now - Date.parse(since) >= disableAfterMs;
		const delay = nextDelay(delivery.attempts.length, outcome.retryAfter, now);
		const isLast = isGone || isHopeless || delay === undefined || webhook.status === 'disabled';
		store.deliveries.save(isLast ? delivery : { ...delivery, status: 'pending', nextAttemptAt: now + delay });
		const failing = { ...webhook, failing_since: since };
		store.table(webhooks.name)!.save(failing);
		if (webhook.status === 'disabled' || !(isGone || isHopeless)) return;
		const change = { status: 'disabled', disabled_reason: isGone ? 'gone' : 'failures' };
		const context = { ...this.service, resource: webhooks, actor, request: null, now };
		changeByService(context, failing, change);
		store.deliveries.failPending(webhook.id);
	}
}

/** Adds an attempt to a delivery, which is not tried again unless the caller says so. */
function afterAttempt(
	delivery: Delivery,
	startedAt: number,
	durationMs: number,
	{ status, error }: Pick<Outcome, 'status' | 'error'>,
): Delivery {
	const started_at = new Date(startedAt).toISOString();
	const attempt = { started_at, duration_ms: Math.round(durationMs), response_status: status, error };
	const attempts = [...delivery.attempts, attempt];
	return { ...delivery, status: error === null ? 'succeeded' : 'failed', nextAttemptAt: null, attempts };
}

/**
 * The headers of a delivery (Standard Webhooks 1.0.0), with one signature per secret, so that a
 * receiver may still use the previous one.
 *
 * @param time in milliseconds since 1970; receivers tolerate five minutes of difference
 */
function signedHeaders(id: string, body: string, secrets: string[], time: number): Record<string, string> {
	const date = new Date(time);
	return {
		'webhook-id': id,
		'webhook-timestamp': String(Math.floor(time / 1000)),
		'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, date, body)).join(' '),
	};
}
