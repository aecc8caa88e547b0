import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { HookContext, TriggerContext, WebhookContext } from 'n8n-core';
import type {
	IDataObject,
	IHookFunctions,
	INodeParameters,
	ITriggerFunctions,
	ITriggerResponse,
	IWebhookData,
	IWebhookFunctions,
	WorkflowActivateMode,
} from 'n8n-workflow';

import { CrmPlatformTrigger } from '../../nodes/CrmPlatform/CrmPlatformTrigger.node';
import { systemClock } from '../../nodes/CrmPlatform/base/clock';
import { clearProcessMemory } from '../../nodes/CrmPlatform/base/processMemory';
import { watchSubscription } from '../../nodes/CrmPlatform/trigger/webhook/subscriptionWatch';
import { startLocalServer, type LocalServer } from './local-server.ts';
import { until } from './until.ts';
import { loadTrigger } from './loaded-trigger';
import type { Setup } from './node-runs';

export interface TriggerSetup {
	credential: Setup['credential'];
	parameters: INodeParameters;
	/** The ID of a further workflow in the same n8n. */
	workflowId?: string;
}

const nodeType = new CrmPlatformTrigger();
const webhookDescription = nodeType.description.webhooks![0]!;

export async function startTrigger(setup: TriggerSetup): Promise<TestTrigger> {
	clearProcessMemory();
	const trigger = new TestTrigger(setup);
	await trigger.listen();
	return trigger;
}

/** The trigger in a stand-in for n8n, with a web server of its own. */
export class TestTrigger {
	/** The URL of the active workflow. */
	url = '';
	/** The items that have started the workflow, in order. */
	started: IDataObject[] = [];
	/** The statuses of n8n's answers to deliveries. */
	answers: number[] = [];
	/** Warnings and errors in n8n's log. */
	warnings: string[] = [];
	/** Errors that n8n lists as failed executions. */
	reported: string[] = [];
	/** The workflow's static data as n8n stores it: at activation, at deactivation, and by `emit`. */
	staticData: IDataObject = {};
	/** If set, n8n starts no workflow and answers with this status. */
	fails: number | undefined = undefined;
	/** Whether n8n answers every request itself, as it does while it starts. */
	isStarting = false;
	parameters: TriggerSetup['parameters'];
	private readonly setup: TriggerSetup;
	/** n8n keeps the static data of a test run in memory, and for that run only. */
	private testStaticData: IDataObject = {};
	private watching: ITriggerResponse | undefined;
	/** Ends the pause between two looks. */
	private wake: (() => void) | undefined;
	private server!: LocalServer;

	constructor(setup: TriggerSetup) {
		this.setup = setup;
		this.parameters = setup.parameters;
	}

	async listen(): Promise<void> {
		this.server = await startLocalServer((request, response) => {
			this.serve(request, response).catch((error: Error) => {
				// n8n lists the error of a webhook as a failed execution.
				this.reported.push(error.message);
				response.writeHead(500).end();
			});
		});
		const { workflow, node, additionalData, webhookData } = this.opened(false);
		const context = new HookContext(workflow, node, additionalData, 'trigger', 'init', webhookData);
		this.url = context.getNodeWebhookUrl('default')!;
	}

	/** Activates the trigger as n8n does: creates the subscription if it does not exist. */
	async activate(isTest = false): Promise<void> {
		if (!(await this.hook('checkExists', isTest))) await this.hook('create', isTest);
		if (!isTest) await this.watch('activate');
	}

	async deactivate(isTest = false): Promise<void> {
		if (!isTest) await this.stopWatching();
		await this.hook('delete', isTest);
	}

	/** Kills n8n and starts it again. */
	async restart(): Promise<void> {
		await this.stopWatching();
		clearProcessMemory();
		if (!(await this.hook('checkExists', false, 'init'))) await this.hook('create', false, 'init');
		await this.watch('init');
	}

	/** Ends the pause before the trigger's next look at its subscription, and waits until it has looked. */
	async look(): Promise<void> {
		await until(() => this.wake !== undefined);
		const wakeUp = this.wake!;
		this.wake = undefined;
		wakeUp();
		await until(() => this.wake !== undefined || this.watching === undefined);
	}

	/** Posts a delivery as anyone could. */
	async post(body: string, headers: Record<string, string>): Promise<Response> {
		return await fetch(this.url, { method: 'POST', body, headers });
	}

	async close(): Promise<void> {
		await this.stopWatching();
		await this.server.close();
	}

	/** Loads the workflow, as n8n does each time. */
	private opened(isTest: boolean) {
		const { workflowId = 'workflow-1', credential } = this.setup;
		const { additionalData, ...loaded } = loadTrigger({
			type: nodeType,
			credential,
			node: {
				name: 'CRM Platform Trigger',
				typeVersion: 2,
				parameters: { output: 'event', ...this.parameters },
				webhookId: `hook-of-${workflowId}`,
			},
			workflowId,
			isActive: !isTest,
			staticData: isTest ? this.testStaticData : structuredClone(this.staticData),
		});
		const { url } = this.server;
		const webhookData = { webhookDescription, isTest } as IWebhookData;
		return {
			...loaded,
			additionalData: { ...additionalData, webhookBaseUrl: `${url}/webhook`, webhookTestBaseUrl: `${url}/webhook-test` },
			webhookData,
		};
	}

	private async hook(
		method: 'checkExists' | 'create' | 'delete',
		isTest: boolean,
		activation: WorkflowActivateMode = 'activate',
	): Promise<boolean> {
		const { workflow, node, additionalData, webhookData } = this.opened(isTest);
		const [mode, activationMode] = isTest ? (['manual', 'manual'] as const) : (['trigger', activation] as const);
		const context = new HookContext(workflow, node, additionalData, mode, activationMode, webhookData);
		context.logger.warn = (message) => void this.warnings.push(message);
		try {
			return await nodeType.webhookMethods.default[method].call(context as unknown as IHookFunctions);
		} finally {
			const saved = JSON.parse(JSON.stringify(workflow.staticData)) as IDataObject;
			if (isTest) this.testStaticData = saved;
			else this.staticData = saved;
		}
	}

	private async watch(activation: WorkflowActivateMode): Promise<void> {
		await this.stopWatching();
		const { workflow, node, additionalData } = this.opened(false);
		const emit = () => void (this.staticData = JSON.parse(JSON.stringify(workflow.staticData)) as IDataObject);
		const saveFailedExecution = (error: Error) => void this.reported.push(error.message);
		const context = new TriggerContext(workflow, node, additionalData, 'trigger', activation, emit, undefined, saveFailedExecution);
		context.logger.warn = (message) => void this.warnings.push(message);
		const sleep = async (ms: number, signal?: AbortSignal) => {
			// A test ends the pauses between two looks, and no others: requests wait, too.
			if (ms < 5_000) return await systemClock.sleep(ms, signal);
			await new Promise<void>((resolve) => {
				this.wake = resolve;
				signal?.addEventListener('abort', () => resolve());
				if (signal?.aborted) resolve();
			});
		};
		this.watching = watchSubscription(context as unknown as ITriggerFunctions, { ...systemClock, now: () => Date.now(), sleep });
	}

	private async stopWatching(): Promise<void> {
		await this.watching?.closeFunction?.();
		this.watching = undefined;
	}

	private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		response.once('close', () => this.answers.push(response.statusCode));
		if (this.isStarting) return void response.writeHead(200).end('n8n is starting up. Please wait');
		const rawBody = await buffer(request);
		const isTest = request.url!.startsWith('/webhook-test/');
		const { workflow, node, additionalData, webhookData } = this.opened(isTest);
		const context = new WebhookContext(
			workflow,
			node,
			{ ...additionalData, httpRequest: Object.assign(request, { rawBody }), httpResponse: response },
			isTest ? 'manual' : 'webhook',
			webhookData,
			[],
			null,
		);
		context.logger.warn = (message) => void this.warnings.push(message);
		context.logger.error = (message) => void this.warnings.push(message);
		const result = await nodeType.webhook.call(context as unknown as IWebhookFunctions);
		if (result.noWebhookResponse) return;
		if (this.fails !== undefined) {
			response.writeHead(this.fails).end();
			return;
		}
		const [items = []] = result.workflowData ?? [];
		this.started.push(...items.map(({ json }) => json));
		response.writeHead(Number(webhookDescription['responseCode'])).end();
	}
}
