import type { IDataObject, IExecuteFunctions, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import type { Connection } from './api/connection';
import type { WriteIdentity } from './api/idempotency';

/** One kind of record: a table of contents. */
export interface Resource {
	/** As the user reads it: `Contact`. */
	name: string;
	/** As workflows store it: `contact`. */
	value: string;
	/** Collection path without version prefix: `/contacts`. */
	path: `/${string}`;
	/** What can be done with it, in the order shown. */
	operations: Operation[];
}

/** One verb: how it is offered, what it asks for, what it does, for any resource. */
export interface Operation {
	option: INodePropertyOptions;
	properties(resource: Resource): INodeProperties[];
	/** Reads once what is the same for all items, and gives what is done for each. */
	prepare(job: Job): Promise<Run>;
}

/** Does the operation for the input item of that index. */
export type Run = (item: number) => Promise<IDataObject | IDataObject[]>;

/** One execution of the node. */
export interface Job {
	n8n: IExecuteFunctions;
	api: Connection;
	resource: Resource;
	/** What makes this execution's writes its own, the item aside. */
	identity: Omit<WriteIdentity, 'item'>;
}
