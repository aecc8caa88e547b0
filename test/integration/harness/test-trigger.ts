import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type { Setup } from './node-runs';

/** The trigger in a workflow of its own, in an n8n that is on the network for real. */
export interface TestTrigger {
	/** Where n8n listens: of the workflow when it is active, and of a test run. */
	url: string;
	testUrl: string;
	/** The items that workflows were started with, in the order in which they were. */
	started: IDataObject[];
	/** Milliseconds until the next look. */
	wait: number;
	/** The statuses of all answers that were given. */
	answers: number[];
	/** What n8n writes to its log. */
	warnings: string[];
	/** Errors the trigger has put among the failed executions. */
	reported: string[];
	/** What n8n keeps of the workflow: written when it is activated and deactivated, and by `emit`. */
	staticData: IDataObject;
	parameters: INodeParameters;
	nodeName: string;
	/** n8n starting no workflow, but answering so. */
	fails: number | undefined;
	checkExists(isTest?: boolean): Promise<boolean>;
	/** Activates the trigger as n8n does: creates the subscription if it does not exist. */
	activate(isTest?: boolean): Promise<void>;
	deactivate(isTest?: boolean): Promise<void>;
	/** Kills n8n and starts it again, perhaps at another address. */
	restart(address?: string): Promise<void>;
	/** Lets the time pass after which the trigger looks at its subscription, and waits until it has. */
	look(): Promise<void>;
	/** Posts a delivery as anyone could. */
	post(body: string, headers: Record<string, string>): Promise<{ status: number; body: string }>;
	close(): Promise<void>;
}

export interface TriggerSetup {
	credential: Setup['credential'];
	parameters: INodeParameters;
	/** Another workflow is another one in the same n8n. */
	workflowId?: string;
}
