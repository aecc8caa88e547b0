import { EventEmitter } from 'node:events';

import type { IDataObject, IHookFunctions, ITriggerFunctions, ITriggerResponse, IWebhookFunctions } from 'n8n-workflow';

import { clearProcessMemory } from '../../../../nodes/CrmPlatform/base/processMemory';
import { subscriptionLifecycle } from '../../../../nodes/CrmPlatform/trigger/webhook/lifecycle';
import { acceptedStatus } from '../../../../nodes/CrmPlatform/trigger/webhook/backlog';
import { receive } from '../../../../nodes/CrmPlatform/trigger/webhook/receive';
import { watchSubscription } from '../../../../nodes/CrmPlatform/trigger/webhook/subscriptionWatch';
import { createDeferredPromise } from '../../poll/deferred-promise.ts';
import type { SimulatedClock } from '../../../../bench/scale/clock.ts';

class ModelResponse extends EventEmitter {
	statusCode = 200;
	writableEnded = false;
	writeHead(status: number): this {
		this.statusCode = status;
		return this;
	}
	end(): void {
		this.writableEnded = true;
		this.emit('close');
	}
}

/** n8n with one workflow: what it stores, and a process that can be killed. */
export class WebhookModelN8n {
	staticData = '{}';
	/** What was stored before, oldest first. */
	readonly earlier: string[] = [];
	readonly started: Array<{ id: string; at: number; process: number }> = [];
	readonly reports: Array<{ message: string; at: number }> = [];
	address = 'a';
	isUp = true;
	isReachable = true;
	/** Whether n8n answers every request itself, as it does while it starts. */
	isStarting = false;
	process = 0;
	private response: ITriggerResponse | undefined;
	private readonly clock: SimulatedClock;
	private readonly workflow: string;

	constructor(clock: SimulatedClock, workflow: string) {
		this.clock = clock;
		this.workflow = workflow;
	}

	/** Repeats a publish until it succeeds, as a user does who sees that it failed. */
	async publish(): Promise<void> {
		for (let i = 0; i < 10; i++) {
			await this.response?.closeFunction?.();
			await this.hook('delete', 'update').catch(() => undefined);
			const opened = this.activate('activate').then(() => true, () => false);
			if (await this.until(opened)) return;
		}
	}

	async kill(): Promise<void> {
		this.isUp = false;
		this.process += 1;
		await this.response?.closeFunction?.();
		clearProcessMemory();
	}

	/** @param takes milliseconds until n8n knows its webhooks */
	async start(address: string, takes: number): Promise<void> {
		this.address = address;
		Object.assign(this, { isUp: true, isStarting: true });
		await this.clock.advance(takes);
		this.isStarting = false;
		await this.until(this.activate('init').then(() => true, () => false));
	}

	post = async (url: string, rawBody: string, headers: Record<string, string>): Promise<number | null> => {
		if (url === 'https://elsewhere.example/') return 200;
		if (!this.isUp || !this.isReachable || url !== this.url()) return null;
		if (this.isStarting) return 200;
		const response = new ModelResponse();
		const { process } = this;
		const context = {
			...this.context('trigger', this.copy()),
			getRequestObject: () => ({ headers, rawBody: Buffer.from(rawBody) }),
			getResponseObject: () => response,
		};
		const webhookResult = await receive(context as unknown as IWebhookFunctions).catch((error: Error) => {
			this.reports.push({ message: error.message, at: this.clock.now() });
			response.writeHead(500).end();
			return undefined;
		});
		if (process !== this.process) return null;
		for (const { json } of webhookResult?.workflowData?.[0] ?? []) {
			this.started.push({ id: String(json.id), at: this.clock.now(), process });
		}
		if (!response.writableEnded) response.writeHead(acceptedStatus).end();
		return response.statusCode;
	};

	private url = () => `https://${this.address}.example/webhook`;
	private copy = () => JSON.parse(this.staticData) as IDataObject;

	/** Lets time pass while n8n works. */
	private async until<Result>(work: Promise<Result>): Promise<Result> {
		let isDone = false;
		const done = work.finally(() => (isDone = true));
		while (!isDone) await this.clock.advance(100);
		return await done;
	}

	private async activate(mode: string): Promise<void> {
		if (!(await this.hook('checkExists', mode))) await this.hook('create', mode);
		const copy = this.copy();
		this.response = watchSubscription(this.context(mode, copy) as unknown as ITriggerFunctions, this.clock);
	}

	private async hook(method: 'checkExists' | 'create' | 'delete', mode: string): Promise<boolean> {
		const copy = this.copy();
		const called = subscriptionLifecycle[method].call(this.context(mode, copy) as unknown as IHookFunctions);
		const work = called.finally(() => this.store(copy));
		return method === 'delete' ? await this.until(work) : await work;
	}

	private store(copy: IDataObject): void {
		this.earlier.push(this.staticData);
		this.staticData = JSON.stringify(copy);
	}

	private context(mode: string, copy: IDataObject) {
		const { process } = this;
		const parameters: IDataObject = { events: ['contact.created'], output: 'event', recover: true, recoverHours: 24 };
		const report = (message: string) => void this.reports.push({ message, at: this.clock.now() });
		return {
			getNode: () => ({ id: 'node', name: 'Trigger', type: 'n8n-nodes-crm-platform.crmPlatformTrigger', parameters: {} }),
			getWorkflow: () => ({ id: this.workflow, name: 'Workflow', active: true }),
			getInstanceId: () => 'instance',
			getActivationMode: () => mode,
			getNodeParameter: (name: string, otherwise: unknown) => parameters[name] ?? otherwise,
			getNodeWebhookUrl: () => this.url(),
			getWorkflowStaticData: () => (copy.global ??= {}),
			emit: () => (process === this.process ? this.store(copy) : undefined),
			saveFailedExecution: ({ message }: Error) => report(message),
			logger: { warn: report, error: () => undefined, info: () => undefined },
			helpers: { createDeferredPromise },
		};
	}
}
