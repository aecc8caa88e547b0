import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { type OAuthSandbox, startOAuthSandbox } from '../sandbox/harness/connection.ts';
import { until } from './until.ts';
import { askInExecution, type WaitingExecution } from './waiting-execution.ts';
import type { Setup } from './node-runs.ts';

const approvalParameters = {
	resource: 'task',
	operation: 'sendAndWait',
	approvalTitle: 'Discount',
	message: 'Amount: 1,200 → 12,000',
	aboutKind: 'deal',
	approverId: { __rl: true, mode: 'name', value: '' },
};

/** A CRM in which executions request approvals. Each test ends its requests. */
export function useApprovals() {
	/** Filled in before the tests run. */
	const at = {} as {
		sandbox: OAuthSandbox;
		/** The token of a person, in a program that is not n8n. */
		person: string;
		user: IDataObject;
		deal: IDataObject;
		/** The URL of the service that nodes call, by default the sandbox. */
		url?: string | undefined;
	};
	const open: WaitingExecution[] = [];

	const call = async (method: string, path: string, body?: unknown, token = at.sandbox.apiKey) =>
		await at.sandbox.call(token, method, path, body);
	const read = async (path: string) => (await call('GET', path)).body as IDataObject;
	const newest = async (): Promise<IDataObject> => ((await read('/v1/tasks?sort=-created_at&limit=1')).data as IDataObject[])[0] ?? {};
	const count = async (path: string) => (await read(path)).total;
	const webhooks = async () => (await read('/v1/webhooks')).data as IDataObject[];
	const linkOf = ({ description }: IDataObject): string => /open (http\S+)/.exec(String(description))![1]!;
	const visit = async (task: IDataObject) => await (await fetch(linkOf(task))).text();
	const complete = async ({ id }: IDataObject, token = at.person) =>
		await call('PATCH', `/v1/tasks/${String(id)}`, { status: 'completed' }, token);
	/** A workflow completes the task, in the name of the person. */
	const completeByWorkflow = async ({ id }: IDataObject) => {
		const key = `n8n/0123abcd/w/1/${randomUUID().replaceAll('-', '')}`;
		await at.sandbox.call(at.person, 'PATCH', `/v1/tasks/${String(id)}`, { status: 'completed' }, { 'idempotency-key': key });
	};
	/** Opens a completed task again. */
	const reopen = async ({ id }: IDataObject, token?: string) =>
		await call('PATCH', `/v1/tasks/${String(id)}`, { status: 'not_started' }, token);

	const faults = async (...all: IDataObject[]) => await call('PUT', '/_sandbox/faults', all);

	/** Waits until the CRM has called n8n with the decision. */
	const decided = async (execution: WaitingExecution) => await until(() => execution.output() !== undefined);

	type Items = Pick<Setup, 'items' | 'executionId' | 'retryOnFail'>;
	async function ask(
		more: IDataObject = {}, setup: Items = {}, type?: string, reviewed?: IDataObject, calls?: number,
	): Promise<WaitingExecution> {
		const parameters = { ...approvalParameters, aboutRecord: at.deal.id, ...more };
		const credential = { baseUrl: at.url ?? at.sandbox.url, apiKey: at.sandbox.apiKey };
		const tools = reviewed && { type: 'n8n-nodes-crm-platform.crmPlatformTools', parameters: reviewed as never };
		const execution = await askInExecution({ credential, parameters: parameters as never, ...setup }, type, tools, calls);
		open.push(execution);
		return execution;
	}

	beforeAll(async () => {
		at.sandbox = await startOAuthSandbox({ faults: true, now: () => Date.now(), allowPrivateWebhooks: true });
		const client = await at.sandbox.register();
		at.person = (await at.sandbox.connect(client, 'admin', 'tasks:read tasks:write users:read')).accessToken;
		at.user = (await at.sandbox.call(at.person, 'GET', '/v1/users/me')).body as IDataObject;
		at.deal = (await call('POST', '/v1/deals', { title: `Altamira ${randomUUID()}`, owner_id: at.user.id })).body as IDataObject;
	});
	afterEach(async () => {
		for (const execution of open.splice(0)) await execution.close();
		await faults();
		for (const { id } of await webhooks()) await call('DELETE', `/v1/webhooks/${String(id)}`);
	});
	afterAll(async () => await at.sandbox.close());

	return { at, call, read, newest, count, webhooks, visit, complete, completeByWorkflow, reopen, faults, decided, ask };
}
