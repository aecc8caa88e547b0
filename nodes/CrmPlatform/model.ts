import type { IBinaryKeyData, IDataObject, IExecuteFunctions, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import type { Connection } from './api/connection';
import type { ResourceDescription } from './api/openapi/description';
import type { RunIdentity } from './api/http/idempotency';
import type { Collection, Query } from './api/http/path';
import type { WriteDescription } from './api/openapi/writing';

/** Which names of linked records are added beside their ids: `free` are those that cost at most one request per record type. */
export type NamesToAdd = 'none' | 'free' | 'all';

/** An entry of a node's menu of resources: a record type, or operations for which the user picks the record type. */
export interface MenuEntry {
	/** Shown to users: `Contact`. */
	name: string;
	/** Stored in workflows: `contact`. */
	value: string;
	/** Of its records, with parameters of the node (`parents`) in braces: `/custom-objects/{objectKey}/records`. */
	path?: Collection;
	/** Parameters for the parents of the records, which the user picks first. */
	parents?: INodeProperties[];
	/** Whether its records are those of everyday work: they link to others, and their changes can be undone. */
	isEveryday?: boolean;
	/** The record types to pick from, by name. */
	recordTypes?: Resource[];
	operations: Operation[];
}

/** A record type. */
export interface Resource extends MenuEntry {
	path: Collection;
	/** Whether the Poll Trigger offers it, which needs *Get Many*. */
	isPolled: boolean;
}

/** A verb, for any resource: its menu entry, its parameters, its effect. */
export interface Operation {
	/** Its `action`, in n8n's list of actions, has `%` for the name of the record type: `Create %`, `Get many %s`. */
	option: INodePropertyOptions;
	properties(entry: Omit<MenuEntry, 'operations'>): INodeProperties[];
	/** Parameters under Options. */
	options?: INodeProperties[];
	/** Schema of the output if it is not the record; null if it is not known beforehand. */
	output?: OutputSchema | null;
	/** Finds the description of the operation's write, which names the fields to fill in. */
	describedWrite?(description: ResourceDescription): WriteDescription | undefined;
	/** Of an action that crm_act of CRM Platform AI Toolkit offers, and no other operation: whether it sends something to people outside the CRM. */
	toolAction?: { leavesTheCrm: boolean };
	/** Whether it takes records of all types, so that the user picks none. */
	isForAllTypes?: true;
	/** Whether the operation runs once for all items if no parameter depends on the item: each run would return the same. */
	isOnceForAll?: true;
	/** Reads what all items share, and returns what runs them, or their writes. Creates linked records for names without one (`onMissingLink`). */
	prepare(run: NodeRun): Work | Writes | Promise<Work | Writes>;
}

export const operationOf = ({ operations }: Pick<MenuEntry, 'operations'>, value: unknown): Operation | undefined =>
	operations.find(({ option }) => option.value === value);

/** The part of JSON Schema that n8n shows of a node's output before it has run. */
interface OutputSchema {
	type: string;
	properties?: Record<string, OutputSchema>;
}

/** What an operation does with its items: slices of them, a few at a time. */
export interface Work {
	/** In items. */
	size: number;
	/** Slices in flight at the same time. */
	atOnce: number;
	/**
	 * Runs the items of a slice; called in the order of the slices. Returns a result for each item, in their order; none for
	 * those that were not tried. If it throws, every item fails with that error.
	 *
	 * @param proceedAfter called with the results so far before each further request
	 */
	handle(items: number[], proceedAfter: ProceedAfter): Promise<Results>;
}

/** The writes of an operation as data, which are sent, or shown in a preview. */
export interface Writes {
	description: WriteDescription;
	/** The write of each item, or why it is not sent. */
	writes: Array<Write | Error>;
	output: WrittenOutput;
}

/** What an item outputs of the record that the service returned for its write; the whole record if all is absent. */
export interface WrittenOutput {
	/** Whether it only says that the record was deleted. */
	isDeletion?: true;
	/** Whether it says if the record was created or updated: `byStatus`, if the status tells that of a record that may exist. */
	upsertOutcome?: 'byStatus' | 'unlessMatched';
	/** The fields of a simplified record, and the names of all that reading returns. */
	simplified?: { fields: OutputField[]; readNames: ReadonlySet<string> };
}

/** A value to output: its name, and its path in the record. */
export interface OutputField {
	name: string;
	path: [field: string, ...steps: string[]];
	/** For an object: whether to output only members with a value. */
	isFilledOnly?: true;
}

/** The write of one item. */
export type Write = RecordAndValues & (
	/** It changes the record with this id. */
	| { id: string; creates?: undefined; orderKey?: undefined }
	/** It creates a record: an `addition` is one that another attempt would find and change; `ifNoneMatches` changes one that matches. */
	| {
		id?: undefined;
		creates?: 'addition' | 'ifNoneMatches';
		/** Writes with the same key may match one record, and keep their order. Without a key, any record may match. */
		orderKey?: string;
	}
);

interface RecordAndValues {
	/** How it is sent, if otherwise than the other writes. */
	description?: WriteDescription;
	/** Under which batches are sent. */
	collection: Collection;
	/** Path of a request for this record alone. */
	path: string;
	body?: IDataObject | undefined;
	/** What its key names: the event of a deletion that it undoes, or `mergeSubject`. */
	keySubject?: string | undefined;
	/** The values that the record has afterwards, as far as the body does not say them. */
	sets?: ((record: IDataObject) => IDataObject) | undefined;
	/** The version that was read: a newer version is not overwritten. */
	version?: string | number | undefined;
	query?: Query | undefined;
}

/** Thrown in place of the result of an item that the user has chosen to skip: it has no output. */
export class SkippedItem extends Error {}

export type Results = Array<Result | Error | undefined>;

/** Takes results as they come. @returns whether to send more after these, and after all before */
export type ProceedAfter = (results: Results) => boolean;

export type Result = OutputItem | OutputItem[];

export type OutputItem = IDataObject | ItemWithFiles;

export class ItemWithFiles {
	readonly json: IDataObject;
	readonly files: IBinaryKeyData;

	/** @param files by the name of their binary field */
	constructor(json: IDataObject, files: IBinaryKeyData) {
		this.json = json;
		this.files = files;
	}
}

/** The record that a row of other files will become, by one of its names. */
export interface ExpectedRecord {
	/** Whether several rows have the name. */
	isShared: boolean;
	/** Whether a record is the one that the row changes. */
	is(record: IDataObject): boolean;
}

/** What links to records that do not exist become. */
export interface MissingTargets {
	/** Whether a record with this ID or name will exist before a record that links to it is written. Only in a preview. */
	willExist?: (collection: Collection, text: string) => 'id' | ExpectedRecord | undefined;
	/**
	 * Finds or creates the record for a name that no record has.
	 *
	 * @param isWritten whether an item is written that links to it: otherwise, it is not created, and any text stands for its ID
	 * @returns its ID; undefined refuses the name
	 */
	addRecord?: (collection: Collection, name: string, isWritten: boolean) => Promise<unknown>;
	/** The names of the parts with which `addRecord` creates a record of this name. */
	partsOfNew?: (collection: Collection, name: string) => string[];
	/** Adds a part with this name, such as a stage, to a record. @returns undefined refuses the name */
	addPart?: (collection: Collection, name: string, owner: NamedPart) => Promise<NamedPart | undefined>;
}

export interface NamedPart {
	id: unknown;
	/** Empty if it has none. */
	name: string;
}

/** What is checked while values are read. Previews check the rest later (`changes/preview`); what nobody checks, the service refuses. */
export interface Checks {
	/**
	 * A name that no record has may be an ID: with `none`, it is sent. A filter would silently find nothing, and a person would
	 * be asked to approve a wrong write: with `names`, it is refused. With `all`, IDs are looked up too: in a preview, and
	 * where a value that is refused is left out.
	 */
	links: 'none' | 'names' | 'all';
	/** Whether values are compared with the description. */
	values: boolean;
}

/** What reading records takes, in a run of the node or for a trigger. */
export interface ReadingRun {
	n8n: IExecuteFunctions;
	api: Connection;
	resource: Resource;
}

/** A run of the node: what all its items share. */
export interface NodeRun extends ReadingRun {
	operation: Operation;
	/** The values for fields that a model sends (set by `toolkit/toolkitCall`), in place of those of the parameters. */
	modelValues?: IDataObject;
	/** What becomes of links to records that do not exist; by default, their names are refused. Set by `execute` and imports. */
	onMissingLink?: MissingTargets;
	/** The parts of an idempotency key that all writes of this execution share. */
	identity: RunIdentity;
	/** What is checked while values are read; by default, nothing. Set for previews, imports, approvals and the toolkit. */
	checks?: Checks;
	/** What a call of CRM Platform AI Toolkit would write, in words, if a person decides about it. */
	reviewText?: string | undefined;
}
