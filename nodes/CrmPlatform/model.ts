import type {
	IDataObject,
	IExecuteFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import type { Connection } from './api/connection';
import type { ResourceDescription } from './api/openapi/description';
import type { WriteIdentity } from './api/http/idempotency';
import type { WriteDescription } from './api/openapi/writing';

/** One kind of record: a table of contents. */
export interface Resource {
	/** As the user reads it: `Contact`. */
	name: string;
	/** As workflows store it: `contact`. */
	value: string;
	/**
	 * Collection path without version prefix: `/contacts`. What stands in braces is a parameter of
	 * the node, one of `parents`: `/custom-objects/{objectKey}/records`.
	 */
	path: `/${string}`;
	/** What the user picks before anything else: what the records belong to. */
	parents?: INodeProperties[];
	/** Whether its records refer to others: those can be picked from lists. */
	isLinked?: boolean;
	/** What can be done with it. */
	operations: Operation[];
}

/** One verb: how it is offered, what it asks for, what it does, for any resource. */
export interface Operation {
	option: INodePropertyOptions;
	properties(resource: Resource): INodeProperties[];
	/** What the user may add under Options. */
	options?: INodeProperties[];
	/** What comes out, where it is not the record; null where nobody can say it before. */
	output?: OutputSchema | null;
	/** What the service says of the write it does: the fields to fill in come from there. */
	write?(description: ResourceDescription): WriteDescription | undefined;
	/** Reads once what is the same for all items, and gives what is done for each. */
	prepare(job: Execution): Promise<Run | Batched>;
}

/** JSON Schema, as much as n8n shows of a node's output before it has run. */
export interface OutputSchema {
	type: string;
	properties?: Record<string, OutputSchema>;
}

/** Does the operation for the input item of that index: one after another. */
export type Run = (item: number) => Promise<Result>;

/** Does the operation for several items with one request, and a few requests at a time. */
export interface Batched {
	/** How many items go into one. */
	size: number;
	/** Reads the items; nothing is sent yet. What cannot be read fails when it is to be sent. */
	assemble(items: number[]): Batch;
}

/** Some of the items, ready to be sent. */
export interface Batch {
	/** The records it changes: two batches that share one are not sent at the same time. */
	records: ReadonlySet<string>;
	/** Whether its items are one piece of work, with one result. */
	isOne?: boolean;
	/** One result for each item, in their order. What it throws is the error of each. */
	send(): Promise<Array<Result | Error>>;
}

export type Result = IDataObject | IDataObject[];

/** One execution of the node. */
export interface Execution {
	n8n: IExecuteFunctions;
	api: Connection;
	resource: Resource;
	operation: Operation;
	/** What makes this execution's writes its own, the items aside. */
	identity: Omit<WriteIdentity, 'items'>;
}
