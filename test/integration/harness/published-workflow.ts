import { TriggerContext } from 'n8n-core';
import {
	Workflow,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeTypes,
	type IRun,
	type ITriggerFunctions,
	type ITriggerResponse,
} from 'n8n-workflow';

import { CrmPlatformPollTrigger } from '../../../nodes/CrmPlatform/CrmPlatformPollTrigger.node';
import { systemClock, type Clock } from '../../../nodes/CrmPlatform/base/clock';
import { forgetDispatchers } from '../../../nodes/CrmPlatform/trigger/changes/published';
import { startChangeTrigger } from '../../../nodes/CrmPlatform/trigger/changes/trigger';
import { additionalDataOf, type Setup } from './node-runs.ts';
import type { TestSandbox } from './sandbox.ts';

interface PublishedSetup {
	credential: Setup['credential'];
	parameters?: IDataObject;
	clock?: Clock;
	/** What comes of an execution; success unless told otherwise. It may throw to tell that none could be started. */
	execute?(items: IDataObject[], execution: Execution): Promise<'success' | 'error'>;
	/** Whether n8n, in queue mode, only answers for executions and never gives their runs. */
	onlyAnswers?: boolean;
}

/** What `emit` settles when the execution has ended. */
interface Done {
	resolve(run: IRun | undefined): void;
	reject(error: Error): void;
}

/** What `emit` settles with n8n's answer. */
type Answer = { resolve(response: IDataObject): void };

/** A row of n8n's table of executions. */
export interface Execution {
	key: string | undefined;
	status: 'running' | 'success' | 'error' | 'crashed';
	items: IDataObject[];
}

/**
 * A published workflow with the Poll Trigger, in an n8n that stores as 2.41 does (execution-persistence):
 * `emit` stores static data, and a key belongs to one execution.
 */
export class Published {
	readonly executions: Execution[] = [];
	/** Errors the trigger has put among the failed executions. */
	readonly reported: string[] = [];
	readonly warnings: string[] = [];
	nodeName = 'CRM Platform Poll Trigger';
	workflowId = 'workflow-1';
	timezone = 'America/Sao_Paulo';
	storedStaticData = '{}';
	private workflow: Workflow | undefined;
	private response: ITriggerResponse | undefined;
	/** Counts the starts of n8n: what is left of an earlier one reaches nothing. */
	private process = 0;

	setup: PublishedSetup;

	constructor(setup: PublishedSetup) {
		this.setup = setup;
	}

	/** Publishes the workflow, or starts n8n with it. */
	async activate(): Promise<void> {
		this.workflow = this.load();
		this.response = await startChangeTrigger(this.context('trigger'), this.setup.clock);
		this.write(this.workflow);
	}

	async deactivate(): Promise<void> {
		await this.response?.closeFunction?.();
		this.response = undefined;
	}

	/** SIGKILL: what was under way has crashed, and nobody hears of it. */
	kill(): void {
		this.process += 1;
		forgetDispatchers();
		void this.response?.closeFunction?.();
		this.response = undefined;
		for (const execution of this.executions) {
			if (execution.status === 'running') execution.status = 'crashed';
		}
	}

	/** What the user's test gives. */
	async test(): Promise<IDataObject[]> {
		const previousWorkflow = this.workflow;
		this.workflow = this.load();
		let items: INodeExecutionData[] = [];
		const context = this.context('manual');
		context.emit = ([emittedItems = []]) => void (items = emittedItems);
		const { manualTriggerFunction } = await startChangeTrigger(context, this.setup.clock);
		await manualTriggerFunction!();
		this.workflow = previousWorkflow;
		return items.map(({ json }) => json);
	}

	/** Ids of what started executions that ended so. */
	ids(status: Execution['status'] = 'success'): string[] {
		return this.executions
			.filter((execution) => execution.status === status)
			.flatMap(({ items }) => items.map(({ id, event }) => String((event as IDataObject | undefined)?.id ?? id)));
	}

	private context(mode: 'trigger' | 'manual'): ITriggerFunctions {
		const { credential } = this.setup;
		const workflow = this.workflow!;
		const [node] = Object.values(workflow.nodes);
		const process = this.process;
		type Data = INodeExecutionData[][];
		const emit = (data: Data, answer: Answer | undefined, done: Done | undefined, key?: string) => {
			const deferred = this.setup.onlyAnswers ? answersOf(answer) : done;
			if (process === this.process) void this.start(workflow, process, data[0] ?? [], deferred, key);
		};
		const context = new TriggerContext(
			workflow,
			node!,
			additionalDataOf(credential, node!.parameters),
			mode,
			mode === 'manual' ? 'manual' : 'activate',
			emit as never,
			undefined,
			(error: Error) => void this.reported.push(error.message),
		);
		context.logger.warn = (message) => void this.warnings.push(message);
		context.logger.error = (message) => void this.warnings.push(message);
		return context as unknown as ITriggerFunctions;
	}

	private async start(
		workflow: Workflow,
		process: number,
		items: INodeExecutionData[],
		done: Done | undefined,
		key: string | undefined,
	): Promise<void> {
		this.write(workflow);
		await new Promise((resolve) => setImmediate(resolve));
		if (process !== this.process) return;
		if (key !== undefined && this.executions.some((execution) => execution.key === key)) {
			done?.resolve(undefined);
			return;
		}
		const execution: Execution = { key, status: 'running', items: [] };
		this.executions.push(execution);
		try {
			const itemCopies = JSON.parse(JSON.stringify(items)) as INodeExecutionData[];
			execution.items = itemCopies.map(({ json }) => json);
			const { execute = async () => 'success' as const } = this.setup;
			const status = await execute(execution.items, execution);
			if (process !== this.process) return;
			execution.status = status;
			done?.resolve({ status } as IRun);
		} catch (error) {
			this.executions.splice(this.executions.indexOf(execution), 1);
			if (process === this.process) done?.reject(error as Error);
		}
	}

	private write(workflow: Workflow): void {
		this.storedStaticData = JSON.stringify(workflow.staticData);
	}

	private load(): Workflow {
		const { parameters, credential } = this.setup;
		const isUser = 'data' in credential;
		const node: INode = {
			id: 'node-1',
			name: this.nodeName,
			type: 'n8n-nodes-crm-platform.crmPlatformPollTrigger',
			typeVersion: 1,
			position: [0, 0],
			parameters: {
				events: ['contact.created'],
				output: 'event',
				authentication: isUser ? 'oAuth2' : 'apiKey',
				...parameters,
				options: { interval: 1, ...((parameters?.options ?? {}) as IDataObject) },
			},
			credentials: isUser
				? { crmPlatformOAuth2Api: { id: credential.id, name: 'Test' } }
				: { crmPlatformApi: { id: 'credential-1', name: 'Test' } },
		};
		const type = new CrmPlatformPollTrigger();
		const nodeTypes = {
			getByName: () => type,
			getByNameAndVersion: () => type,
			getKnownTypes: () => ({}),
		} as INodeTypes;
		return new Workflow({
			id: this.workflowId,
			nodes: [node],
			connections: {},
			active: true,
			nodeTypes,
			staticData: JSON.parse(this.storedStaticData),
			settings: { timezone: this.timezone },
		});
	}
}

/** The result that n8n 2.41's main process returns for a workflow that a worker has run (scaling.service). */
const answersOf = (answer: Answer | undefined): Done => ({
	resolve: (run) =>
		answer?.resolve(run?.status === 'success' ? {} : { body: { message: 'Workflow execution failed' }, statusCode: 500 }),
	reject: () => undefined,
});

/** Waits are cut to a few milliseconds, so that a test need not wait for intervals. */
const hastyClock: Clock = {
	...systemClock,
	sleep: async (ms, signal) => await systemClock.sleep(Math.min(ms, 20), signal),
	now: () => Date.now() * 100,
};

/** Publishes triggers, which are gone after the test. */
export function usePublished(sandbox: TestSandbox, defaults: IDataObject = {}) {
	const open: Published[] = [];
	afterEach(async () => {
		for (const published of open.splice(0)) {
			await published.deactivate();
			published.kill();
		}
	});
	/** A trigger that is not published yet. */
	const saved = (parameters: IDataObject = {}, setup: Partial<PublishedSetup> = {}): Published => {
		const published = new Published({
			credential: sandbox.credential,
			parameters: { ...defaults, ...parameters },
			clock: hastyClock,
			...setup,
		});
		open.push(published);
		return published;
	};
	const publish = async (...setup: Parameters<typeof saved>): Promise<Published> => {
		const published = saved(...setup);
		await published.activate();
		return published;
	};
	return { saved, publish };
}
