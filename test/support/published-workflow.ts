import { TriggerContext } from 'n8n-core';
import type {
	IDataObject,
	INodeExecutionData,
	IRun,
	ITriggerFunctions,
	ITriggerResponse,
	Workflow,
} from 'n8n-workflow';

import { CrmPlatformPollTrigger } from '../../nodes/CrmPlatform/CrmPlatformPollTrigger.node';
import { systemClock, type Clock } from '../../nodes/CrmPlatform/base/clock';
import { clearProcessMemory } from '../../nodes/CrmPlatform/base/processMemory';
import { startPollTrigger } from '../../nodes/CrmPlatform/trigger/poll/trigger';
import type { Setup } from './node-runs.ts';
import type { TestSandbox } from './sandbox.ts';
import { loadTrigger } from './loaded-trigger.ts';

interface PublishedSetup {
	credential: Setup['credential'];
	parameters?: IDataObject;
	clock?: Clock;
	/** Runs an execution, which succeeds by default. If it throws, the execution cannot be started. */
	execute?(items: IDataObject[], execution: Execution): Promise<'success' | 'error'>;
}

/** The promise of `emit` for the end of the execution. */
interface Done {
	resolve(run: IRun | undefined): void;
	reject(error: Error): void;
}

/** A row of n8n's table of executions. */
interface Execution {
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
	readonly details: string[] = [];
	workflowId = 'workflow-1';
	storedStaticData = '{}';
	private published: { workflow: Workflow; response: ITriggerResponse } | undefined;
	/** Counts the starts of n8n: work that an earlier process has left behind has no effect. */
	private process = 0;

	setup: PublishedSetup;

	constructor(setup: PublishedSetup) {
		this.setup = setup;
	}

	/** Publishes the workflow, or starts n8n with it. */
	async activate(mode: 'activate' | 'init' = 'activate'): Promise<void> {
		const loaded = this.load();
		const response = await startPollTrigger(this.context(loaded, 'trigger', mode), this.setup.clock);
		this.published = { workflow: loaded.workflow, response };
		this.write(loaded.workflow);
	}

	/** Unpublishes the workflow, after which n8n stores its static data. */
	async deactivate(): Promise<void> {
		const { published } = this;
		if (!published) return;
		await published.response.closeFunction?.();
		this.write(published.workflow);
		this.published = undefined;
	}

	/** Kills n8n: running executions crash, and the trigger does not learn of it. */
	kill(): void {
		this.process += 1;
		clearProcessMemory();
		void this.published?.response.closeFunction?.();
		this.published = undefined;
		for (const execution of this.executions) {
			if (execution.status === 'running') execution.status = 'crashed';
		}
	}

	/** Tests the trigger by hand. @returns the items that it shows */
	async test(): Promise<IDataObject[]> {
		let items: INodeExecutionData[] = [];
		const context = this.context(this.load(), 'manual');
		context.emit = ([emittedItems = []]) => void (items = emittedItems);
		const { manualTriggerFunction } = await startPollTrigger(context, this.setup.clock);
		await manualTriggerFunction!();
		return items.map(({ json }) => json);
	}

	/** IDs of the events or records that started the executions with this status. */
	ids(status: Execution['status'] = 'success'): string[] {
		return this.executions
			.filter((execution) => execution.status === status)
			.flatMap(({ items }) => items.map(({ id, event }) => String((event as IDataObject | undefined)?.id ?? id)));
	}

	private context(
		{ workflow, node, additionalData }: ReturnType<typeof loadTrigger>,
		mode: 'trigger' | 'manual',
		activation = 'activate',
	): ITriggerFunctions {
		const process = this.process;
		type Data = INodeExecutionData[][];
		const emit = (data: Data, _answer: unknown, done: Done | undefined, key?: string) => {
			if (process === this.process) void this.run(workflow, process, data[0] ?? [], done, key);
		};
		const context = new TriggerContext(
			workflow,
			node,
			additionalData,
			mode,
			mode === 'manual' ? 'manual' : (activation as never),
			emit as never,
			undefined,
			(error: Error) => void this.reported.push(error.message),
		);
		context.logger.warn = (message) => void this.warnings.push(message);
		context.logger.error = (message) => void this.warnings.push(message);
		context.logger.debug = (message) => void this.details.push(message);
		return context as unknown as ITriggerFunctions;
	}

	private async run(
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

	private load() {
		const { parameters, credential } = this.setup;
		const options = { interval: 1, ...((parameters?.options ?? {}) as IDataObject) };
		return loadTrigger({
			type: new CrmPlatformPollTrigger(),
			credential,
			node: {
				name: 'CRM Platform Poll Trigger',
				typeVersion: 1,
				parameters: { events: ['contact.created'], output: 'event', ...parameters, options },
			},
			workflowId: this.workflowId,
			isActive: true,
			staticData: JSON.parse(this.storedStaticData) as IDataObject,
			timezone: 'America/Sao_Paulo',
		});
	}
}

/** A clock that cuts waits to a few milliseconds, so that tests do not wait for intervals. */
const hastyClock: Clock = {
	...systemClock,
	sleep: async (ms, signal) => await systemClock.sleep(Math.min(ms, 20), signal),
	now: () => Date.now() * 100,
};

/** Publishes triggers, and ends them after the test. */
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
