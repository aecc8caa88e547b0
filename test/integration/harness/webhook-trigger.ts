import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { HookContext, TriggerContext, WebhookContext } from 'n8n-core';
import {
	Workflow,
	type IDataObject,
	type IHookFunctions,
	type INode,
	type INodeTypes,
	type ITriggerFunctions,
	type ITriggerResponse,
	type IWebhookData,
	type IWebhookFunctions,
	type WorkflowActivateMode,
} from 'n8n-workflow';

import { CrmPlatformTrigger } from '../../../nodes/CrmPlatform/CrmPlatformTrigger.node';
import { systemClock } from '../../../nodes/CrmPlatform/base/clock';
import { forgetStates } from '../../../nodes/CrmPlatform/trigger/storedState';
import { watchSubscription } from '../../../nodes/CrmPlatform/trigger/webhook/watch';
import { until } from '../../until.ts';
import { additionalDataOf } from './node-runs';
import type { TestTrigger, TriggerSetup } from './test-trigger';

export type { TestTrigger, TriggerSetup };

const nodeType = new CrmPlatformTrigger();
const nodeTypes = {
	getByName: () => nodeType,
	getByNameAndVersion: () => nodeType,
	getKnownTypes: () => ({}),
} as unknown as INodeTypes;
const webhookDescription = nodeType.description.webhooks![0]!;

export async function startTrigger(setup: TriggerSetup): Promise<TestTrigger> {
	const workflowId = setup.workflowId ?? 'workflow-1';
	forgetStates();
	let elsewhere: string | undefined;
	let watching: ITriggerResponse | undefined;
	/** Ends the pause between two looks. */
	let wake: (() => void) | undefined;

	/** n8n reads the workflow anew each time. */
	const opened = (isTest: boolean) => {
		const node: INode = {
			id: 'node-1',
			name: trigger.nodeName,
			type: 'n8n-nodes-crm-platform.crmPlatformTrigger',
			typeVersion: 2,
			position: [0, 0],
			parameters: { output: 'event', ...trigger.parameters },
			credentials: { crmPlatformApi: { id: 'credential-1', name: 'Test' } },
			webhookId: `hook-of-${workflowId}`,
		};
		const workflow = new Workflow({
			id: workflowId,
			name: 'Welcome new contacts',
			nodes: [node],
			connections: {},
			active: !isTest,
			nodeTypes,
			staticData: isTest ? testStaticData : structuredClone(trigger.staticData),
		});
		const base = elsewhere ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		const additionalData = {
			...additionalDataOf(setup.credential, node.parameters),
			webhookBaseUrl: `${base}/webhook`,
			webhookTestBaseUrl: `${base}/webhook-test`,
		};
		const webhookData = { webhookDescription, isTest } as IWebhookData;
		return { workflow, node, additionalData, webhookData };
	};

	// n8n keeps the static data of a test run in memory, and for that run only.
	let testStaticData: IDataObject = {};
	const hook = async (
		method: 'checkExists' | 'create' | 'delete',
		isTest: boolean,
		activation: WorkflowActivateMode = 'activate',
	) => {
		const { workflow, node, additionalData, webhookData } = opened(isTest);
		const context = new HookContext(
			workflow,
			node,
			additionalData,
			isTest ? 'manual' : 'trigger',
			isTest ? 'manual' : activation,
			webhookData,
		);
		context.logger.warn = (message) => void trigger.warnings.push(message);
		try {
			return await nodeType.webhookMethods.default[method].call(context as unknown as IHookFunctions);
		} finally {
			const saved = JSON.parse(JSON.stringify(workflow.staticData)) as IDataObject;
			if (isTest) testStaticData = saved;
			else trigger.staticData = saved;
		}
	};

	const stopWatching = async (): Promise<void> => {
		await watching?.closeFunction?.();
		watching = undefined;
	};

	const watch = async (activation: WorkflowActivateMode): Promise<void> => {
		await stopWatching();
		const { workflow, node, additionalData } = opened(false);
		const emit = () => void (trigger.staticData = JSON.parse(JSON.stringify(workflow.staticData)) as IDataObject);
		const saveFailedExecution = (error: Error) => void trigger.reported.push(error.message);
		const context = new TriggerContext(
			workflow,
			node,
			additionalData,
			'trigger',
			activation,
			emit,
			undefined,
			saveFailedExecution,
		);
		context.logger.warn = (message) => void trigger.warnings.push(message);
		let isFirst = true;
		const sleep = async (ms: number, signal?: AbortSignal) => {
			// Only the pauses between two looks are the test’s to end; requests wait, too.
			if (ms < 5_000 || (ms === 5_000 && !isFirst)) return await systemClock.sleep(ms, signal);
			isFirst = false;
			trigger.wait = ms;
			await new Promise<void>((resolve) => {
				wake = resolve;
				signal?.addEventListener('abort', () => resolve());
				if (signal?.aborted) resolve();
			});
		};
		watching = watchSubscription(context as unknown as ITriggerFunctions, { ...systemClock, sleep });
	};

	const serve = async (request: IncomingMessage, response: ServerResponse) => {
		response.once('close', () => trigger.answers.push(response.statusCode));
		const rawBody = await buffer(request);
		const isTest = request.url!.startsWith('/webhook-test/');
		const { workflow, node, additionalData, webhookData } = opened(isTest);
		const context = new WebhookContext(
			workflow,
			node,
			{
				...additionalData,
				httpRequest: Object.assign(request, { rawBody }),
				httpResponse: response,
			},
			isTest ? 'manual' : 'webhook',
			webhookData,
			[],
			null,
		);
		context.logger.warn = (message) => void trigger.warnings.push(message);
		context.logger.error = (message) => void trigger.warnings.push(message);
		const result = await nodeType.webhook.call(context as unknown as IWebhookFunctions);
		if (result.noWebhookResponse) return;
		if (trigger.fails !== undefined) {
			response.writeHead(trigger.fails).end();
			return;
		}
		const [items = []] = result.workflowData ?? [];
		trigger.started.push(...items.map(({ json }) => json));
		response.writeHead(200).end();
	};

	const server = createServer((request, response) => {
		serve(request, response).catch((error: Error) => {
			// n8n lists what a webhook throws as a failed execution.
			trigger.reported.push(error.message);
			response.writeHead(500).end();
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');

	const trigger: TestTrigger = {
		url: '',
		testUrl: '',
		started: [],
		wait: 0,
		answers: [],
		warnings: [],
		reported: [],
		staticData: {},
		parameters: setup.parameters,
		nodeName: 'CRM Platform Trigger',
		fails: undefined,
		checkExists: async (isTest = false) => await hook('checkExists', isTest),
		async activate(isTest = false) {
			if (!(await hook('checkExists', isTest))) await hook('create', isTest);
			if (!isTest) await watch('activate');
		},
		async deactivate(isTest = false) {
			if (!isTest) await stopWatching();
			await hook('delete', isTest);
		},
		async restart(address) {
			await stopWatching();
			forgetStates();
			elsewhere = address;
			if (!(await hook('checkExists', false, 'init'))) await hook('create', false, 'init');
			await watch('init');
		},
		async look() {
			await until(() => wake !== undefined);
			const wakeUp = wake!;
			wake = undefined;
			wakeUp();
			await until(() => wake !== undefined || watching === undefined);
		},
		async post(body, headers) {
			const response = await fetch(trigger.url, { method: 'POST', body, headers });
			return { status: response.status, body: await response.text() };
		},
		async close() {
			await stopWatching();
			const closed = once(server, 'close');
			server.close();
			server.closeAllConnections();
			await closed;
		},
	};
	for (const isTest of [false, true]) {
		const { workflow, node, additionalData, webhookData } = opened(isTest);
		const context = new HookContext(workflow, node, additionalData, 'trigger', 'init', webhookData);
		trigger[isTest ? 'testUrl' : 'url'] = context.getNodeWebhookUrl('default')!;
	}
	return trigger;
}
