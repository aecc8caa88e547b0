import type { IDataObject } from 'n8n-workflow';

import type { Collection, Query } from '../api/http/path';
import type { JobDescription } from '../api/openapi/writing';
import type { Field } from '../fields/field';
import type { RecordCreator } from '../writing/recordCreator';

/** What rows become. */
export interface ImportTarget {
	operation: 'create' | 'update' | 'upsert' | 'delete';
	/** The fields that a row may have, with the ID of the record to change. */
	fields: Field[];
	/** Path of the records, with the ids of the parents. */
	path: Collection;
	/** Whether to write nothing and to check each value against the description. */
	isPreview: boolean;
	/** The name of the file, if several are imported: hints begin with it. */
	name?: string;
	/** The collections whose records are imported with these. */
	related?: ReadonlySet<Collection>;
	/** What is created because columns or rows name it. */
	missing: RecordCreator;
}

/** A sentence about one of several files. */
export const inFile = ({ name }: Pick<ImportTarget, 'name'>, text: string): string => (name === undefined ? text : `${name}: ${text}`);

/** Where the columns of a file go. */
export interface ColumnPlan {
	/** The columns that are renamed: field and column. */
	renamed: Array<[field: string, column: string]>;
	/** The columns that go nowhere; undefined if only the renamed ones are imported. */
	unplaced: ReadonlySet<string> | undefined;
	/** For the preview: filled columns that go nowhere come first. */
	table: IDataObject[];
}

/** How the rows of a file are imported. */
export interface ImportPlan extends ImportTarget {
	/** Index of the input item with the file. */
	item: number;
	description: JobDescription;
	/** The query that starts a job. */
	query: Query;
	/** The field by which records are found, if the query names one. */
	matchOn?: string;
	/** Whether an empty cell clears the field. */
	clearsEmpty: boolean;
	columns: ColumnPlan;
	/** The name of the file, which begins the names of its reports. */
	fileName?: string;
	/** Whether values that do not fit their fields are left out; otherwise their row is refused. */
	leavesOut: boolean;
	/** Distinguishes the jobs of one file from those of others of the run; the index of the item if absent. */
	fileKey?: number[];
	/** Takes the values of a row that is ready. */
	noteReady?: ((row: number, values: IDataObject) => void) | undefined;
	/** Takes rows with their results, in the order of the file. */
	noteResults?: ((rows: PlannedRow[]) => void) | undefined;
	/** Whether it only adds links to records that were written before. */
	isLinking?: true;
	/** Whether a row with the key of an earlier one is refused; otherwise the later one wins. */
	refusesRepeated: boolean;
}

/** Why a row was not written. */
export interface Refusal {
	field?: string;
	code: string;
	message: string;
	/** Each of several reasons. */
	reasons?: Array<{ field?: string; message: string }>;
	/** The text of a row that cannot be read. */
	text?: string;
	/** Whether the row may have been written anyway. */
	isUnknown?: true;
}

/** A row of the file with its line and result. Thousands wait for their job, as texts, which need a fraction of the memory of objects. */
export interface PlannedRow {
	row: number;
	/** Its cells or members, as the file has them. An unreadable row has none. */
	text: string;
	/** The line of the job, as JSON; undefined if the row is not sent, and once it was sent. */
	line: string | undefined;
	/** What was done to the record of this ID. */
	done?: { action: 'created' | 'updated' | 'deleted'; id: string };
	refusal?: Refusal | undefined;
	/** The values that the row is written without, as it has them, with the names of their fields. */
	leftOut?: Array<{ field: string; value: unknown; message: string }>;
}
