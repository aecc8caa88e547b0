import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type { Setup } from './node-runs';

/** The trigger in its own workflow, in a stand-in for n8n with a real web server. */
export interface TestTrigger {
	/** The URL of the active workflow, and that of a test run. */
	url: string;
	testUrl: string;
	/** The items that have started the workflow, in order. */
	started: IDataObject[];
	/** Milliseconds until the next look. */
	wait: number;
	/** The statuses of n8n's answers to deliveries. */
	answers: number[];
	/** Warnings and errors in n8n's log. */
	warnings: string[];
	/** Errors that n8n lists as failed executions. */
	reported: string[];
	/** The workflow's static data as n8n stores it: at activation, at deactivation, and by `emit`. */
	staticData: IDataObject;
	parameters: INodeParameters;
	nodeName: string;
	/** If set, n8n starts no workflow and answers with this status. */
	fails: number | undefined;
	checkExists(isTest?: boolean): Promise<boolean>;
	/** Activates the trigger as n8n does: creates the subscription if it does not exist. */
	activate(isTest?: boolean): Promise<void>;
	deactivate(isTest?: boolean): Promise<void>;
	/** Kills n8n and starts it again, perhaps at another address. */
	restart(address?: string): Promise<void>;
	/** Ends the pause before the trigger's next look at its subscription, and waits until it has looked. */
	look(): Promise<void>;
	/** Posts a delivery as anyone could. */
	post(body: string, headers: Record<string, string>): Promise<{ status: number; body: string }>;
	close(): Promise<void>;
}

export interface TriggerSetup {
	credential: Setup['credential'];
	parameters: INodeParameters;
	/** The ID of a further workflow in the same n8n. */
	workflowId?: string;
}
