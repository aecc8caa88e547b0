import { basename, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { IDataObject, INode } from 'n8n-workflow';
import type { N8nClient } from '../../../demo/n8n-client.ts';
import type { N8nProcess } from '../../../demo/n8n-process.ts';
import { inARow, workflowNode } from '../../../demo/workflow-node.ts';
import type { Sandbox } from '../../../sandbox/serve.ts';
import { callService } from '../../sandbox/harness/call-service.ts';
import { prepareN8n, signInAsOwner, singleProcess } from './new-n8n.ts';

/** A row of n8n's table of executions. */
export interface ExecutionRow {
	/** Null for a failure that a trigger reports. */
	deduplicationKey: string | null;
	status: string;
	workflowId: string;
}

/** A failure that a trigger has reported, as n8n stores it. */
export interface TriggerReport {
	workflowId: string;
	text: string;
}

/** In n8n's database: SQLite or PostgreSQL. */
export const selectReports =
	'SELECT "workflowId", data AS text FROM execution_entity JOIN execution_data ON "executionId" = id WHERE "deduplicationKey" IS NULL';

/** A page of a list. */
export interface ServicePage<Entry = IDataObject> {
	data: Entry[];
	next_cursor: string | null;
	total: number;
}

/** An n8n of its own beside a sandbox. Tests may kill it at any time. */
export interface KillableN8n {
	client: N8nClient;
	credentialId: string;
	/** Calls the service. */
	call(method: string, path: string, body?: object): Promise<unknown>;
	/** All executions, from n8n's database. */
	rows(): ExecutionRow[];
	countRows(): number;
	reports(): TriggerReport[];
	/** Ends n8n, or one of its processes, as a crash does (SIGKILL), and starts it again. */
	killAndStart(): Promise<void>;
	close(): Promise<void>;
}

/** An n8n that is a single process. */
export interface SingleN8n extends KillableN8n {
	/** Stops n8n as an administrator does, until `start`. */
	stop(): Promise<void>;
	start(): Promise<void>;
}

export async function startKillableN8n(): Promise<SingleN8n> {
	await using closers = new AsyncDisposableStack();
	const setup = await prepareN8n(closers, 0);
	// Without preparing its editor, n8n starts a third faster. Pruned executions cannot be counted.
	const startProcess = await singleProcess(setup, { N8N_DISABLE_UI: 'true', EXECUTIONS_DATA_PRUNE: 'false' });
	let starts = 0;
	let n8n: N8nProcess;
	const start = async () => {
		n8n = startProcess(resolve('.tmp', 'e2e', `${basename(setup.folder)}-${(starts += 1)}.log`));
		await n8n.ready;
	};
	closers.defer(() => n8n.kill());
	await start();

	const query = <Row>(sql: string): Row[] => {
		const database = new DatabaseSync(join(setup.folder, '.n8n', 'database.sqlite'), { readOnly: true });
		try {
			return database.prepare(sql).all() as unknown as Row[];
		} finally {
			database.close();
		}
	};

	// n8n 2.41 leaves some of the executions that were killed as running.
	const abandoned = new Set<number>();
	return {
		...(await killableBeside(setup.sandbox, n8n!.url, closers)),
		rows: () =>
			query<ExecutionRow & { id: number }>('SELECT id, deduplicationKey, status, workflowId FROM execution_entity').map(
				({ id, ...row }) => (abandoned.has(id) && row.status === 'running' ? { ...row, status: 'crashed' } : row),
			),
		countRows: () => query<{ count: number }>('SELECT count(*) AS count FROM execution_entity')[0]!.count,
		reports: () => query<TriggerReport>(selectReports),
		stop: async () => await n8n.stop(),
		start,
		async killAndStart() {
			await n8n.kill();
			const running = query<{ id: number }>("SELECT id FROM execution_entity WHERE status = 'running'");
			for (const { id } of running) abandoned.add(id);
			await start();
		},
	};
}

/**
 * The members that every killable n8n has.
 *
 * @param closers are emptied: `close` runs them
 */
export async function killableBeside(sandbox: Sandbox, n8nUrl: string, closers: AsyncDisposableStack) {
	const client = await signInAsOwner(n8nUrl);
	const data = { baseUrl: sandbox.url, apiKey: sandbox.apiKey, descriptionUrl: '' };
	const credentialId = await client.createCredential({ name: 'Sandbox', type: 'crmPlatformApi', data });
	const moved = closers.move();
	return { client, credentialId, call: serviceCaller(sandbox), close: async () => await moved.disposeAsync() };
}

/** Calls a sandbox; returns the body of the response. */
export function serviceCaller({ url, apiKey }: Pick<Sandbox, 'url' | 'apiKey'>): KillableN8n['call'] {
	return async (method, path, body) => {
		const reply = await callService(url, apiKey, method, path, body);
		if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
		return reply.body as unknown;
	};
}

/** All entries of a list of the service. */
export async function listAll<Entry = IDataObject>(call: KillableN8n['call'], path: string, query: string): Promise<Entry[]> {
	const all: Entry[] = [];
	for (let cursor = ''; ;) {
		const page = (await call('GET', `${path}?${query}&limit=500${cursor}`)) as ServicePage<Entry>;
		all.push(...page.data);
		if (!page.next_cursor) return all;
		cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
	}
}

/** A Poll Trigger, and the nodes after it in a row. */
export function pollingWorkflow(credentialId: string, name: string, triggerParameters: IDataObject, next: INode[]) {
	const parameters = { output: 'event', ...triggerParameters, options: { interval: 1, ...(triggerParameters['options'] as IDataObject) } };
	const more = { id: `trigger ${name}`, credentials: { crmPlatformApi: { id: credentialId, name: 'Sandbox' } } };
	const trigger = workflowNode('Trigger', 'n8n-nodes-crm-platform.crmPlatformPollTrigger', 1, parameters, more);
	const nodes = [trigger, ...next];
	return { name, nodes, connections: inARow(nodes) };
}

/** One of n8n's own nodes. */
export const baseNode = (type: string, typeVersion: number, name: string, parameters: IDataObject): INode =>
	workflowNode(name, `n8n-nodes-base.${type}`, typeVersion, parameters, { id: name, position: [220, 0] });
