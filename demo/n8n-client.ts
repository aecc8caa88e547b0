import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse as parseFlatted } from 'flatted';
import type { IRunExecutionData, IWorkflowBase } from 'n8n-workflow';
import type { z } from 'zod/v4';
import * as responses from './n8n-responses.ts';
import { N8nRequestError } from './n8n-responses.ts';

const pollMs = 100;

/** Far longer than an execution or a publish takes on a busy machine. */
const maxWaitMs = 600_000;

export interface Owner {
	email: string;
	password: string;
}

export interface Credential {
	name: string;
	type: string;
	data: Record<string, unknown>;
}

export type Workflow = Pick<IWorkflowBase, 'name' | 'nodes' | 'connections'> &
	Partial<Pick<IWorkflowBase, 'pinData' | 'settings'>>;

export interface Execution {
	status: string;
	data: IRunExecutionData;
}

/** A user's session, which n8n binds to the browser that opened it. */
export interface Session {
	browserId: string;
	cookie: string;
}

/** The REST interface of n8n's own editor, for one signed-in user. */
export class N8nClient {
	readonly url: string;
	readonly session: Session;

	/** @param session the session of an earlier sign-in: n8n refuses more than five a minute */
	constructor(url: string, session: Session = { browserId: randomUUID(), cookie: '' }) {
		this.url = url;
		this.session = session;
	}

	/** Signs in as the owner, whose account is created in a new n8n. */
	async signIn({ email, password }: Owner): Promise<void> {
		const { userManagement } = await this.request('GET', '/rest/settings', responses.Settings);
		if (userManagement.showSetupOnFirstLoad) return await this.setUp({ email, password });
		await this.request('POST', '/rest/login', responses.WithId, { emailOrLdapLoginId: email, password });
	}

	/** Creates the owner's account in a new n8n, and signs in. */
	async setUp(owner: Owner): Promise<void> {
		await this.request('POST', '/rest/owner/setup', responses.WithId, { ...owner, firstName: 'Demo', lastName: 'Owner' });
	}

	/** @returns the new credential's id */
	async createCredential(credential: Credential): Promise<string> {
		return (await this.request('POST', '/rest/credentials', responses.WithId, credential)).id;
	}

	async listCredentials(): Promise<Array<z.infer<typeof responses.CredentialRecord>>> {
		return await this.request('GET', '/rest/credentials', responses.CredentialList);
	}

	/** Reads a credential with its values; n8n blanks out the secret ones. */
	async readCredential(id: string): Promise<Credential> {
		const path = `/rest/credentials/${id}?includeData=true`;
		return await this.request('GET', path, responses.DecryptedCredential);
	}

	/** Writes a credential; a secret that is still blanked out keeps its value. */
	async updateCredential(id: string, { name, type, data }: Credential): Promise<void> {
		await this.request('PATCH', `/rest/credentials/${id}`, responses.WithId, { name, type, data });
	}

	/** Tests a credential with these values, as n8n's editor does when it saves one. */
	async testCredential(credential: Credential): Promise<{ status: string; message: string }> {
		const id = await this.createCredential(credential);
		const body = { credentials: { id, ...credential } };
		return await this.request('POST', '/rest/credentials/test', responses.CredentialTest, body);
	}

	/** @returns the new workflow's id */
	async createWorkflow(workflow: Workflow): Promise<string> {
		const body = { active: false, settings: {}, ...workflow };
		return (await this.request('POST', '/rest/workflows', responses.WithId, body)).id;
	}

	/** Runs a saved workflow as the editor's button does, and waits until it has ended. */
	async runWorkflow(id: string, trigger: string): Promise<Execution> {
		return await this.waitForExecution(await this.startWorkflow(id, trigger));
	}

	/** @returns the id of the execution, which has then started */
	async startWorkflow(id: string, trigger: string): Promise<string> {
		const body = { triggerToStartFrom: { name: trigger } };
		return (await this.request('POST', `/rest/workflows/${id}/run`, responses.Started, body)).executionId;
	}

	/** Stops a running execution, as the editor's Stop button does. */
	async stopExecution(id: string): Promise<void> {
		await this.request('POST', `/rest/executions/${id}/stop`, responses.Stopped, {});
	}

	/**
	 * Retries a failed execution, as the button in the list of executions does.
	 *
	 * @returns the new execution, once it has ended
	 */
	async retryExecution(id: string): Promise<Execution> {
		const body = { loadWorkflow: false };
		const retry = await this.request('POST', `/rest/executions/${id}/retry`, responses.WithId, body);
		return await this.waitForExecution(retry.id);
	}

	/** Runs a workflow whose trigger waits for an event: the trigger listens when this returns. */
	async listenForTest(id: string, trigger: string): Promise<void> {
		const body = { triggerToStartFrom: { name: trigger } };
		await this.request('POST', `/rest/workflows/${id}/run`, responses.Listening, body);
	}

	/**
	 * Puts a workflow into production: its triggers listen when this returns.
	 *
	 * @throws Error with n8n's message if a trigger cannot be activated
	 */
	async activateWorkflow(id: string): Promise<void> {
		const path = `/rest/workflows/${id}`;
		const { versionId } = await this.request('GET', path, responses.WorkflowVersion);
		await this.request('POST', `${path}/activate`, responses.WithId, { versionId });
		let { status, triggers } = await this.waitForPublication(id);
		// n8n 2.41 reads pending and finished publications at the same time, so for a moment it may report neither.
		if (status === 'not_published') ({ status, triggers } = await this.waitForPublication(id));
		if (status === 'published') return;
		throw new Error(triggers.map(({ errorMessage }) => errorMessage ?? '').join('\n'));
	}

	/** Saves a changed workflow; production keeps its version until the workflow is activated again. */
	async updateWorkflow(id: string, changed: Partial<Workflow>): Promise<void> {
		await this.request('PATCH', `/rest/workflows/${id}`, responses.WithId, changed);
	}

	/** Takes a workflow out of production: its triggers have ended when this returns. */
	async deactivateWorkflow(id: string): Promise<void> {
		await this.request('POST', `/rest/workflows/${id}/deactivate`, responses.WithId, {});
		await this.waitForPublication(id);
	}

	/**
	 * The ids of a workflow's executions, oldest first.
	 *
	 * @param status the status of the executions, such as `error`; any by default
	 */
	async listExecutions(workflowId: string, status?: string[]): Promise<string[]> {
		// n8n lists running executions before ended ones; an execution that ends meanwhile is in both lists.
		const ids = new Set<string>();
		const query = new URLSearchParams({ filter: JSON.stringify({ workflowId, status }), limit: '100' });
		for (;;) {
			const path = `/rest/executions?${query}`;
			const { results, nextCursor } = await this.request('GET', path, responses.ExecutionList);
			for (const { id } of results) ids.add(id);
			if (!nextCursor) return [...ids].sort((a, b) => Number(a) - Number(b));
			query.set('cursor', nextCursor);
		}
	}

	/** The executions of a workflow, oldest first, once there are `count` of them and all have ended. */
	async executionsOf(workflowId: string, count: number): Promise<Execution[]> {
		const ids = await until(`${count} executions of the workflow ${workflowId}`, async () => {
			const found = await this.listExecutions(workflowId);
			return found.length >= count ? found : undefined;
		});
		return await Promise.all(ids.map(async (id) => await this.waitForExecution(id)));
	}

	/** The state of a workflow's publication, once n8n has finished it. */
	private async waitForPublication(id: string): Promise<z.infer<typeof responses.Publication>> {
		return await until(`the publication of the workflow ${id}`, async () => {
			const path = `/rest/workflows/${id}/publication-status`;
			const publication = await this.request('GET', path, responses.Publication);
			return publication.status === 'in_progress' ? undefined : publication;
		});
	}

	/** The execution, once it has ended. */
	async waitForExecution(id: string): Promise<Execution> {
		const running = ['new', 'running', 'waiting'];
		const { status, data } = await until(`the end of the execution ${id}`, async () => {
			const record = await this.request('GET', `/rest/executions/${id}`, responses.ExecutionRecord);
			return running.includes(record.status) ? undefined : record;
		});
		return { status, data: parseFlatted(data) as IRunExecutionData };
	}

	private async request<T>(
		method: string,
		path: string,
		schema: z.ZodType<T>,
		body?: unknown,
	): Promise<T> {
		const response = await fetch(this.url + path, {
			method,
			headers: {
				// n8n may close a kept-alive connection just as it is used, or may have been killed.
				connection: 'close',
				'browser-id': this.session.browserId,
				cookie: this.session.cookie,
				...(body === undefined ? {} : { 'content-type': 'application/json' }),
			},
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		if (!response.ok) throw new N8nRequestError(`${method} ${path}`, response.status, text);
		const cookies = response.headers.getSetCookie();
		const pairs = cookies.map((cookie) => cookie.split(';')[0]);
		if (pairs.length > 0) this.session.cookie = pairs.join('; ');
		return schema.parse(responses.Envelope.parse(JSON.parse(text)).data);
	}
}

/**
 * Polls n8n until it has a result.
 *
 * @throws {Error} if this takes too long
 */
async function until<T>(description: string, ask: () => Promise<T | undefined>): Promise<T> {
	for (const deadline = Date.now() + maxWaitMs; Date.now() < deadline; await sleep(pollMs)) {
		const found = await ask();
		if (found !== undefined) return found;
	}
	throw new Error(`This never came: ${description}.`);
}
