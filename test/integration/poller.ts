import { PollContext } from 'n8n-core';
import {
	Workflow,
	type IDataObject,
	type INode,
	type INodeTypes,
	type IPollFunctions,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

import { CrmPlatformPollTrigger } from '../../nodes/CrmPlatform/CrmPlatformPollTrigger.node';
import type { Clock } from '../../nodes/CrmPlatform/api/http/request';
import { poll } from '../../nodes/CrmPlatform/trigger/poll/poll';
import { additionalDataOf, type Setup } from './n8n.ts';

export interface PollerSetup {
	credential: Setup['credential'];
	/** The node's parameters; every event from now on, unless told otherwise. */
	parameters?: IDataObject;
	clock?: Clock;
	/** Milliseconds n8n gives to a poll. */
	budget?: number;
}

/**
 * An active workflow with a Poll Trigger, as n8n treats it: what the node puts into its static data
 * lives as long as the workflow is active, and is written down when it is activated and when a poll
 * starts an execution, not otherwise.
 */
export class Poller {
	/** The items of each execution. */
	readonly executions: IDataObject[][] = [];
	/** The failed executions that the node itself has reported. */
	readonly reported: string[] = [];
	setup: PollerSetup;
	nodeName = 'CRM Platform Poll Trigger';
	private written = '{}';
	private workflow: Workflow | undefined;

	constructor(setup: PollerSetup) {
		this.setup = setup;
	}

	/** Activates the workflow, and so does a start of n8n. */
	async activate(): Promise<void> {
		this.workflow = this.load();
		await this.poll();
		this.write();
	}

	/** What n8n does when it is time. */
	async poll(): Promise<void> {
		const items = await this.call('trigger');
		if (items === null) return;
		this.executions.push(items);
		this.write();
	}

	/** What the user's test gives, in a workflow read anew. */
	async test(): Promise<IDataObject[]> {
		const known = this.workflow;
		this.workflow = this.load();
		const items = await this.call('manual');
		this.workflow = known;
		return items ?? [];
	}

	/** The ids of all events that have started something. */
	get ids(): string[] {
		return this.executions.flat().map(({ id }) => String(id));
	}

	private async call(mode: WorkflowExecuteMode): Promise<IDataObject[] | null> {
		const context = contextOf(this.workflow!, mode, this.setup, (error) => {
			this.reported.push(error.message);
		});
		const given = await poll(context, this.setup.clock);
		return given && given.flat().map(({ json }) => json);
	}

	private write(): void {
		this.written = JSON.stringify(this.workflow!.staticData);
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
				events: ['*'],
				authentication: isUser ? 'oAuth2' : 'apiKey',
				...parameters,
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
			id: 'workflow-1',
			nodes: [node],
			connections: {},
			active: true,
			nodeTypes,
			staticData: JSON.parse(this.written),
			settings: { timezone: 'America/Sao_Paulo' },
		});
	}
}

function contextOf(
	workflow: Workflow,
	mode: WorkflowExecuteMode,
	{ credential, budget }: PollerSetup,
	report: (error: Error) => void,
): IPollFunctions {
	const [node] = Object.values(workflow.nodes);
	return new PollContext(
		workflow,
		node!,
		additionalDataOf(credential, node!.parameters),
		mode,
		mode === 'manual' ? 'manual' : 'activate',
		undefined,
		report,
		undefined,
		undefined,
		undefined,
		budget === undefined ? undefined : () => budget,
	) as unknown as IPollFunctions;
}
