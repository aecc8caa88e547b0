import type { IDataObject, INodeExecutionData, NodeOperationError, ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';

import { clearProcessMemory } from '../../../../nodes/CrmPlatform/base/processMemory';
import { startPolling } from '../../../../nodes/CrmPlatform/trigger/poll/trigger';
import type { PollSettings } from '../../../../nodes/CrmPlatform/trigger/poll/pollSettings';
import type { Connection } from '../../../../nodes/CrmPlatform/api/connection';
import { createDeferredPromise, type DeferredPromise } from '../deferred-promise.ts';
import type { Clock } from '../../../../nodes/CrmPlatform/base/clock';
import type { SimulatedClock } from '../../../../bench/scale/clock.ts';
import type { PollModelService } from './poll-service.ts';
import { readerOf } from './records.ts';

/** A row of n8n's table of executions. */
export interface ModelExecution {
	node: string;
	/** IDs of its events or records. */
	ids: string[];
	/** What it was started with. */
	items: IDataObject[];
	key: string;
	status: 'new' | 'running' | 'success' | 'error' | 'crashed';
	/** When it began (Unix epoch ms). */
	started: number;
	/** When it got this status (Unix epoch ms). */
	at: number;
}

/** How long an execution takes (ms), and how it ends. */
export type Course = { ms: number; status: 'success' | 'error' };

/** n8n 2.41 with one workflow: its database, and a process that can be killed. */
export class PollModelN8n {
	/** Rows by key, without those that were pruned. */
	readonly rows = new Map<string, ModelExecution>();
	/** All rows, including those that were pruned. */
	readonly allRows: ModelExecution[] = [];
	/** The messages to the user, with their descriptions. */
	readonly reports: Array<{ node: string; about: string; message: string; at: number }> = [];
	readonly warnings: string[] = [];
	staticData = '{}';
	/** What was stored before, oldest first. */
	readonly earlier: string[] = ['{}'];
	/** What was last stored of each copy. */
	private readonly storedOf = new WeakMap<IDataObject, string>();
	/** Runs before n8n writes an execution: writing may be slow, or fail. */
	beforeWriting: (items: INodeExecutionData[], key: string) => Promise<void> = async () => undefined;
	/** While the database is away, nothing is stored or started. */
	isDatabaseAway = false;
	/** Whether workers run executions. */
	hasWorkers = false;
	/** How many of the next executions lose their job: n8n, in queue mode, takes the end of another job for theirs. */
	jobsToLose = 0;
	courses: Course[] = [{ ms: 100, status: 'success' }];
	/** By how much n8n's clock is fast (ms). */
	fast = 0;
	private course = 0;
	/** The course of an execution with these items: by default, the courses in turn. */
	courseOf: (items: IDataObject[]) => Course = () => this.courses[this.course++ % this.courses.length]!;
	private process = 0;
	private readonly published = new Map<string, { choice: PollSettings; response?: ITriggerResponse }>();

	private readonly clock: SimulatedClock;
	private readonly service: PollModelService;

	/** n8n's own clock. */
	private readonly skewedClock: Clock;

	constructor(clock: SimulatedClock, service: PollModelService) {
		this.clock = clock;
		this.skewedClock = { ...clock, now: () => clock.now() + this.fast };
		this.service = service;
	}

	/** Publishes the workflow after a change of one trigger: the others keep running on their copies. */
	async publish(node: string, choice: PollSettings): Promise<void> {
		await this.unpublish(node);
		await this.activate([node], 'update', choice);
	}

	private async unpublish(node: string): Promise<void> {
		await this.published.get(node)?.response?.closeFunction?.();
		this.published.delete(node);
	}

	/** Kills the process, whose memory is lost. */
	async kill(): Promise<void> {
		this.process += 1;
		for (const { response } of this.published.values()) await response?.closeFunction?.();
		clearProcessMemory();
		this.markCrashed('running');
	}

	private markCrashed(status: string): void {
		for (const row of this.rows.values()) {
			if (row.status === status) Object.assign(row, { status: 'crashed', at: this.clock.now() });
		}
	}

	/** Starts n8n again. It marks executions as crashed whose jobs were lost. */
	async start(): Promise<void> {
		this.markCrashed('new');
		await this.activate([...this.published.keys()], 'init');
	}

	/** Deletes executions that have ended. n8n does that after a quarter of an hour at the earliest. */
	prune(): void {
		for (const [key, { status, at }] of this.rows) {
			if (!['new', 'running'].includes(status) && this.clock.now() - at > 60_000) this.rows.delete(key);
		}
	}

	private async activate(nodes: string[], mode: string, chosen?: PollSettings): Promise<void> {
		const copy = JSON.parse(this.staticData) as IDataObject;
		const process = this.process;
		for (const node of nodes) {
			const choice = chosen ?? this.published.get(node)!.choice;
			this.published.set(node, { choice });
			const { log, api: answers, page } = this.service;
			const api = { viewer: 'viewer', notices: new Set(), ...answers } as unknown as Connection;
			const trigger = { n8n: this.context(node, copy, mode), clock: this.skewedClock, settings: choice };
			const records = choice.scope && readerOf(choice.scope, page);
			const open = async () => await startPolling(trigger, { api, log, records, renew: async () => undefined });
			// n8n tries again where an activation fails.
			const activating = Array.from({ length: 10 }).reduce<Promise<ITriggerResponse>>((tried) => tried.catch(open), open());
			let isActive = false;
			void activating.finally(() => (isActive = true)).catch(() => undefined);
			do await this.clock.advance(100);
			while (!isActive);
			const response = await activating;
			if (process !== this.process) return;
			this.published.set(node, { choice, response });
			this.store(copy);
		}
	}

	/** Stores a copy of the static data, if that has changed. */
	private store(copy: IDataObject): void {
		const data = JSON.stringify(copy);
		if (this.isDatabaseAway || this.storedOf.get(copy) === data) return;
		this.storedOf.set(copy, data);
		this.earlier.push(this.staticData);
		this.staticData = data;
	}

	private context(node: string, copy: IDataObject, mode: string): ITriggerFunctions {
		const process = this.process;
		const emit = (data: INodeExecutionData[][], _answer: unknown, done: DeferredPromise | undefined, key?: string) => {
			if (process !== this.process) return;
			this.store(copy);
			void this.run(node, process, data[0] ?? [], key).then(done?.resolve, done?.reject);
		};
		return {
			getNode: () => ({ id: node, name: node, type: 'n8n-nodes-crm-platform.crmPlatformPollTrigger', parameters: {} }),
			getWorkflow: () => ({ id: 'workflow' }),
			getWorkflowSettings: () => ({}),
			getInstanceId: () => 'instance',
			getActivationMode: () => mode,
			getWorkflowStaticData: () => (copy.global ??= {}),
			emit,
			saveFailedExecution: ({ node: { name: about }, message, description }: NodeOperationError) =>
				this.reports.push({ node, about, message: `${message}. ${description ?? ''}`, at: this.clock.now() }),
			logger: { warn: (text: string) => this.warnings.push(text), error: () => undefined, info: () => undefined, debug: () => undefined },
			helpers: { createDeferredPromise },
		} as unknown as ITriggerFunctions;
	}

	/** Never settles for a process that was killed. */
	private async run(node: string, process: number, items: INodeExecutionData[], key = ''): Promise<unknown> {
		const isAway = this.isDatabaseAway;
		await Promise.resolve();
		await this.beforeWriting(items, key);
		if (process !== this.process) return await never();
		if (isAway) throw new Error('The database is away');
		const existingRow = this.rows.get(key);
		if (existingRow && existingRow.status !== 'new') return undefined;
		// Items that cannot be written undo the whole transaction, so that the new row stays (execution-persistence, create).
		const stored = (JSON.parse(JSON.stringify(items)) as INodeExecutionData[]).map(({ json }) => json);
		if (existingRow) this.allRows.splice(this.allRows.indexOf(existingRow), 1);
		const now = this.clock.now();
		const ids = stored.map(({ id, event }) => String((event as IDataObject | undefined)?.id ?? id));
		const row: ModelExecution = { node, ids, items: stored, key, status: 'running', started: now, at: now };
		if (key !== '') this.rows.set(key, row);
		this.allRows.push(row);
		if (this.jobsToLose > 0) {
			this.jobsToLose -= 1;
			row.status = 'new';
			return { status: 'new', jobId: '1' };
		}
		const { ms, status } = this.courseOf(row.items);
		await this.clock.sleep(ms);
		if (process !== this.process) return await never();
		Object.assign(row, { status, at: this.clock.now() });
		return { status, ...(this.hasWorkers && { jobId: '1' }) };
	}
}

const never = async () => await new Promise(() => undefined);
