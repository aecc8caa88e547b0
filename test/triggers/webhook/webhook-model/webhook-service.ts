import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Connection } from '../../../../nodes/CrmPlatform/api/connection';
import { describeResource } from '../../../../nodes/CrmPlatform/api/openapi/description';
import { parseOpenApi } from '../../../../nodes/CrmPlatform/api/openapi/openapi';
import { httpError } from '../../../http/http-error.ts';
import type { SimulatedClock } from '../../../../bench/scale/clock.ts';

const document = parseOpenApi(JSON.parse(readFileSync(join(__dirname, '../../../../contract/openapi.json'), 'utf8')));

interface Delivery {
	event: ModelEvent;
	created_at: string;
	status: 'pending' | 'succeeded' | 'failed';
	attempts: Array<{ response_status: number | null }>;
}

export interface ModelEvent {
	id: string;
	sequence: number;
	at: number;
	/** Why it cannot be delivered: the CRM does not send it, as its user no longer sees the record; or the trigger cannot read it. */
	problem: 'unsent' | 'unreadable' | undefined;
}

interface Subscription {
	id: string;
	url: string;
	description: unknown;
	events: string[];
	status: string;
	created_at: string;
	updated_at: string;
	failing_since: string | null;
	secrets: string[];
	deliveries: Map<string, Delivery>;
}

/** How an address answers a delivery: a status, or null if nobody is there. */
type Post = (url: string, body: string, headers: Record<string, string>) => Promise<number | null>;

const retries = [5, 300, 1_800, 7_200, 18_000, 36_000].map((seconds) => seconds * 1_000);
const eventType = 'contact.created';

/** The subscriptions of the service, with answers that fail or are lost. */
export class WebhookModelService {
	readonly subscriptions = new Map<string, Subscription>();
	readonly events: ModelEvent[] = [];
	/** How many requests fail before anything is done, and how many responses to writes are lost. */
	failures = 0;
	lostAnswers = 0;
	/** Milliseconds until a delivery is sent, and how often. */
	late = 0;
	copies = 1;
	/** Whether the credential may not read deliveries. */
	isUnlisted = false;
	private count = 0;

	private readonly clock: SimulatedClock;
	private readonly post: Post;

	constructor(clock: SimulatedClock, post: Post) {
		this.clock = clock;
		this.post = post;
	}

	happen(problem?: ModelEvent['problem']): void {
		const event: ModelEvent = { problem, id: `evt_${this.events.length + 1}`, sequence: this.events.length + 1, at: this.clock.now() };
		this.events.push(event);
		for (const subscription of this.subscriptions.values()) {
			if (subscription.status === 'active' && subscription.events.includes(eventType)) this.queue(subscription, event);
		}
	}

	/** What somebody does to the subscriptions in the CRM. */
	tamper(change: (subscription: Subscription) => void): void {
		for (const subscription of this.subscriptions.values()) {
			change(subscription);
			subscription.updated_at = this.time();
		}
	}

	rotate(subscription: Subscription): void {
		// The former secret would sign for another day, which the model leaves out.
		subscription.secrets = [this.newSecret()];
	}

	/** Whether it will try an event again. */
	willTry({ id }: ModelEvent): boolean {
		return [...this.subscriptions.values()].some(({ deliveries }) => deliveries.get(id)?.status === 'pending');
	}

	/** Retries pending deliveries, as the service would eventually. */
	async retryAll(): Promise<void> {
		for (const subscription of this.subscriptions.values()) {
			for (const delivery of subscription.deliveries.values()) if (delivery.status === 'pending') await this.attempt(subscription, delivery);
		}
	}

	readonly api = {
		describe: async (path: `/${string}`) => describeResource(document, path),
		send: async ({ method, path, body }: { method: string; path: string; body?: Record<string, unknown> }) => {
			await this.clock.sleep(10);
			if (this.failures > 0) {
				this.failures -= 1;
				throw httpError('503');
			}
			const answer = this.answer(method, path.split('?')[0]!.split('/').slice(1), body ?? {});
			if (method !== 'GET' && this.lostAnswers > 0) {
				this.lostAnswers -= 1;
				throw httpError('504');
			}
			return { status: 200, headers: { date: new Date(this.clock.now()).toUTCString() }, body: structuredClone(answer) };
		},
	} as unknown as Connection;

	private answer(method: string, [collection, id, action, delivery]: string[], body: Record<string, unknown>): unknown {
		if (collection === 'events') {
			const { problem, at } = this.events.find((event) => event.id === id)!;
			if (problem === 'unsent') throw httpError('404');
			return { timestamp: new Date(at).toISOString() };
		}
		if (id === undefined) {
			if (method === 'GET') return this.list([...this.subscriptions.values()].map(publicView));
			const now = this.time();
			const newSubscription: Subscription = {
				...{
					id: `whk_${++this.count}`, url: String(body.url), description: body.description, events: body.events as string[], status: 'active',
				},
				...{ created_at: now, updated_at: now, failing_since: null, secrets: [this.newSecret()], deliveries: new Map() },
			};
			this.subscriptions.set(newSubscription.id, newSubscription);
			return { ...publicView(newSubscription), secret: newSubscription.secrets[0] };
		}
		const subscription = this.subscriptions.get(id);
		if (!subscription) throw httpError('404');
		if (action === 'deliveries') {
			if (delivery !== undefined) return this.retry(subscription, subscription.deliveries.get(delivery.slice('dlv_'.length))!);
			if (this.isUnlisted) throw httpError('403');
			const newestFirst = [...subscription.deliveries.values()].reverse();
			return this.list(newestFirst.map(({ event: { id }, ...more }) => ({ ...more, id: `dlv_${id}`, event_id: id, event_type: eventType })));
		}
		if (action === 'recover') {
			if (subscription.status !== 'active') throw httpError('409');
			this.recover(subscription, Date.parse(String(body.since)));
		}
		if (action === 'rotate-secret') {
			subscription.secrets.unshift(this.newSecret());
			subscription.updated_at = this.time();
			return { ...publicView(subscription), secret: subscription.secrets[0] };
		}
		if (method === 'DELETE') this.subscriptions.delete(id);
		if (method === 'PATCH') Object.assign(subscription, body, { updated_at: this.time(), failing_since: null });
		return publicView(subscription);
	}

	private recover(subscription: Subscription, since: number): void {
		for (const event of this.events.filter(({ at }) => at >= since)) {
			const delivery = subscription.deliveries.get(event.id);
			if (!delivery) this.queue(subscription, event);
			else if (delivery.status !== 'succeeded') this.retry(subscription, delivery);
		}
	}

	private retry(subscription: Subscription, delivery: Delivery): void {
		void this.attempt(subscription, Object.assign(delivery, { status: 'pending' }));
	}

	private queue(subscription: Subscription, event: ModelEvent): void {
		const delivery: Delivery = { event, created_at: this.time(), status: 'pending', attempts: [] };
		subscription.deliveries.set(event.id, delivery);
		void this.clock.sleep(this.late + 1).then(async () => {
			for (let i = 0; i < this.copies; i++) await this.attempt(subscription, delivery);
		});
	}

	private async attempt(subscription: Subscription, delivery: Delivery): Promise<void> {
		if (this.subscriptions.get(subscription.id) !== subscription || subscription.status !== 'active') return;
		const { id, sequence, at, problem } = delivery.event;
		if (problem === 'unsent') {
			delivery.attempts.push({ response_status: null });
			delivery.status = 'failed';
			return;
		}
		const data = { object: { id: `con_${sequence}` }, previous: null, changed: [] };
		const event = { id, type: eventType, timestamp: new Date(at).toISOString(), sequence, data };
		const body = problem === 'unreadable' ? '{}' : JSON.stringify(event);
		const timestamp = String(Math.floor(this.clock.now() / 1000));
		const signatures = subscription.secrets.map((secret) => {
			const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
			return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
		});
		const status = await this.post(subscription.url, body, {
			'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' '),
		});
		delivery.attempts.push({ response_status: status });
		if (status !== null && status < 300) {
			delivery.status = 'succeeded';
			subscription.failing_since = null;
			return;
		}
		if (delivery.status === 'succeeded') return;
		subscription.failing_since ??= this.time();
		const delay = retries[delivery.attempts.length - 1];
		if (delay === undefined) delivery.status = 'failed';
		else
			void this.clock.sleep(delay).then(async () => (delivery.status === 'pending' ? await this.attempt(subscription, delivery) : undefined));
	}

	private list = (data: unknown[]) => ({ data, next_cursor: null, total: data.length });
	private time = (): string => new Date(this.clock.now()).toISOString();
	private newSecret = (): string => `whsec_${createHmac('sha256', 'model').update(String(++this.count)).digest('base64')}`;
}

const publicView = ({ secrets: [secret = ''], deliveries: _, ...rest }: Subscription) => ({ ...rest, secret_hint: secret.slice(-4) });
