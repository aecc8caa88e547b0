import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { NodeApiError, type INode } from 'n8n-workflow';

import type { Connection } from '../../../nodes/CrmPlatform/api/connection';
import { describeResource } from '../../../nodes/CrmPlatform/api/openapi/description';
import { parseOpenApi } from '../../../nodes/CrmPlatform/api/openapi/openapi';
import type { ModelClock } from '../poll-model/clock.ts';

const document = parseOpenApi(JSON.parse(readFileSync(join(__dirname, '../../../contract/openapi.json'), 'utf8')))!;

interface Delivery {
	event: ModelEvent;
	status: 'pending' | 'succeeded' | 'failed';
	attempts: Array<{ response_status: number | null }>;
	due: number;
}

export interface ModelEvent {
	id: string;
	sequence: number;
	at: number;
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
const wanted = 'contact.created';

/** The service as far as subscriptions go, with answers that fail or are lost. */
export class ModelService {
	readonly subscriptions = new Map<string, Subscription>();
	readonly events: ModelEvent[] = [];
	/** So many requests fail before anything is done, and so many answers to writes are lost. */
	failures = 0;
	lostAnswers = 0;
	/** Milliseconds until a delivery is sent, and how often. */
	late = 0;
	copies = 1;
	/** Refuses to change a subscription, though it describes it. */
	isFixed = false;
	private count = 0;

	private readonly clock: ModelClock;
	private readonly post: Post;

	constructor(clock: ModelClock, post: Post) {
		this.clock = clock;
		this.post = post;
	}

	happen(): void {
		const event = { id: `evt_${this.events.length + 1}`, sequence: this.events.length + 1, at: this.clock.now() };
		this.events.push(event);
		for (const one of this.subscriptions.values()) {
			if (one.status === 'active' && one.events.includes(wanted)) this.queue(one, event);
		}
	}

	/** What somebody does in the CRM to the subscription there is. */
	tamper(change: (one: Subscription) => void): void {
		for (const one of this.subscriptions.values()) {
			change(one);
			one.updated_at = this.time();
		}
	}

	rotate(one: Subscription): void {
		// The secret of before signs for a day, which is not waited for here.
		one.secrets = [this.newSecret()];
	}

	/** Sends again what has failed, as the service would in the end. */
	async retryAll(): Promise<void> {
		for (const one of this.subscriptions.values()) {
			for (const delivery of one.deliveries.values()) if (delivery.status === 'pending') await this.attempt(one, delivery);
		}
	}

	readonly api = {
		describe: async (path: string) => describeResource(document, path),
		send: async ({ method, path, body }: { method: string; path: string; body?: Record<string, unknown> }) => {
			await this.clock.sleep(10);
			if (this.failures > 0) {
				this.failures -= 1;
				throw failure('503');
			}
			const answer = this.answer(method, path.split('?')[0]!.split('/').slice(2), body ?? {});
			if (method !== 'GET' && this.lostAnswers > 0) {
				this.lostAnswers -= 1;
				throw failure('504');
			}
			return { status: 200, headers: { date: new Date(this.clock.now()).toUTCString() }, body: structuredClone(answer) };
		},
	} as unknown as Connection;

	private answer(method: string, [collection, id, action]: string[], body: Record<string, unknown>): unknown {
		if (collection === 'events') return { timestamp: new Date(this.events.find((event) => event.id === id)!.at).toISOString() };
		if (id === undefined) {
			if (method === 'GET') return this.list([...this.subscriptions.values()].map(shown));
			const now = this.time();
			const own: Subscription = {
				...{ id: `whk_${++this.count}`, url: String(body.url), description: body.description, events: body.events as string[], status: 'active' },
				...{ created_at: now, updated_at: now, failing_since: null, secrets: [this.newSecret()], deliveries: new Map() },
			};
			this.subscriptions.set(own.id, own);
			return { ...shown(own), secret: own.secrets[0] };
		}
		const own = this.subscriptions.get(id);
		if (!own) throw failure('404');
		if (action === 'deliveries') return this.list([...own.deliveries.values()].filter(({ status }) => status !== 'succeeded').map(({ event, attempts, status }) => ({ id: `dlv_${event.id}`, event_id: event.id, event_type: wanted, attempts, status })));
		if (action === 'recover') {
			if (own.status !== 'active') throw failure('409');
			this.recover(own, Date.parse(String(body.since)));
		}
		if (action === 'rotate-secret') own.secrets.unshift(this.newSecret());
		if (action === 'rotate-secret') own.updated_at = this.time();
		if (method === 'DELETE') this.subscriptions.delete(id);
		if (method === 'PATCH' && this.isFixed) throw failure('405');
		if (method === 'PATCH') Object.assign(own, body, { updated_at: this.time(), failing_since: null });
		return action === 'rotate-secret' ? { ...shown(own), secret: own.secrets[0] } : shown(own);
	}

	private recover(own: Subscription, since: number): void {
		for (const event of this.events.filter(({ at }) => at >= since)) {
			const known = own.deliveries.get(event.id);
			if (!known) this.queue(own, event);
			else if (known.status !== 'succeeded') void this.attempt(own, Object.assign(known, { status: 'pending' }));
		}
	}

	private queue(own: Subscription, event: ModelEvent): void {
		const delivery: Delivery = { event, status: 'pending', attempts: [], due: 0 };
		own.deliveries.set(event.id, delivery);
		void this.clock.sleep(this.late + 1).then(async () => {
			for (let i = 0; i < this.copies; i++) await this.attempt(own, delivery);
		});
	}

	private async attempt(own: Subscription, delivery: Delivery): Promise<void> {
		if (this.subscriptions.get(own.id) !== own || own.status !== 'active') return;
		const { id, sequence, at } = delivery.event;
		const data = { object: { id: `con_${sequence}` }, previous: null, changed: [] };
		const body = JSON.stringify({ id, type: wanted, timestamp: new Date(at).toISOString(), sequence, data });
		const timestamp = String(Math.floor(this.clock.now() / 1000));
		const signatures = own.secrets.map((secret) => {
			const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
			return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
		});
		const status = await this.post(own.url, body, { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') });
		delivery.attempts.push({ response_status: status });
		if (status !== null && status < 300) {
			delivery.status = 'succeeded';
			own.failing_since = null;
			return;
		}
		if (delivery.status === 'succeeded') return;
		own.failing_since ??= this.time();
		const delay = retries[delivery.attempts.length - 1];
		if (delay === undefined) delivery.status = 'failed';
		else void this.clock.sleep(delay).then(async () => (delivery.status === 'pending' ? await this.attempt(own, delivery) : undefined));
	}

	private list = (data: unknown[]) => ({ data, next_cursor: null, total: data.length });
	private time = (): string => new Date(this.clock.now()).toISOString();
	private newSecret = (): string => `whsec_${createHmac('sha256', 'model').update(String(++this.count)).digest('base64')}`;
}

const shown = ({ secrets: [secret = ''], deliveries: _, ...own }: Subscription) => ({ ...own, secret_hint: secret.slice(-4) });

const failure = (httpCode: string) => new NodeApiError({ name: 'Trigger' } as INode, {}, { httpCode, message: `It answers ${httpCode}` });
