import type { Collection, Query } from '../api/http/path';
import { ruleNumber } from '../api/http/rules';
import { jobQuery, type JobDescription } from '../api/openapi/writing';
import { idField, type Field } from '../fields/field';
import type { AssignedColumn } from '../mapping/assignColumns';
import { collectionPath } from '../mapping/locator';
import type { NodeRun } from '../model';
import { emptyCells } from '../parameters/fieldParameters';
import { importAsProperty, refusedValuesOption, repeatedRowsOption } from '../parameters/fileParameters';
import { chosenOption } from '../parameters/properties';
import { parsePreview } from '../values/parsers';
import { chosenMatchField, fieldToMatchOn, requireMatchField } from '../writing/matchOn';
import { ImportCreator, otherOwner } from './importCreator';

interface FileToImport {
	/** Index of the input item that has it. */
	item: number;
	/** Its name, which begins the names of its reports. */
	fileName: string | undefined;
	/** The collections whose records are imported together; undefined for a single file. */
	related?: ReadonlySet<Collection>;
}

/** A file, and how the user wants its rows to be imported. */
export interface ImportSettings extends FileToImport {
	operation: 'create' | 'update' | 'upsert' | 'delete';
	/** The fields that a row may have, with the ID of the record to change. */
	fields: Field[];
	/** Path of the records, with the ids of the parents. */
	path: Collection;
	/** Whether to write nothing and to check each value against the description. */
	isPreview: boolean;
	/** Creates what columns or rows name and the CRM lacks. */
	creator: ImportCreator;
	description: JobDescription;
	/** The query that starts a job. */
	query: Query;
	/** The field by which records are found, if the query names one. */
	matchOn: Field | undefined;
	/** Whether an empty cell clears the field. */
	clearsEmpty: boolean;
	/** Whether values that do not fit their fields are left out; otherwise their row is refused. */
	leavesOut: boolean;
	/** Whether a row with the key of an earlier one is refused; otherwise the later one wins. */
	refusesRepeated: boolean;
}

/** A hint. If several files are imported, it begins with the name of its file. */
export const inFile = ({ fileName, related }: FileToImport, text: string): string => (related ? `${fileName}: ${text}` : text);

export interface ColumnPlan {
	/** The columns that are renamed: field and column. */
	renamed: Array<[field: string, column: string]>;
	/** The columns that go nowhere; undefined if only the renamed ones are imported. */
	unassigned: ReadonlySet<string> | undefined;
	/** All columns, including those that go nowhere. */
	all: AssignedColumn[];
}

export interface ImportPlan extends ImportSettings {
	columns: ColumnPlan;
	/** Distinguishes the jobs of the file from those of others of the run. */
	fileNumbers: number[];
	/** The links to records that do not exist before all files are written: field and column. */
	lateLinks: Array<[field: string, column: string]>;
	/** If it only writes late links: the ID of the record that each row has become, or in a preview its number. */
	writtenIds?: ReadonlyMap<number, string>;
}

/**
 * The settings for a file.
 *
 * @param decided what becomes of the rows, if the user does not choose it, and the creator of earlier settings for them
 * @throws Error in the user's words if the service does not offer the import, or if a parameter is wrong
 */
export async function importSettings(
	run: NodeRun,
	{ item, fileName, related }: FileToImport,
	decided?: Pick<ImportSettings, 'operation'> & { matchOn: string | undefined; creator?: ImportCreator },
): Promise<ImportSettings> {
	const { n8n, resource } = run;
	const operation = decided?.operation ?? chosenOption<ImportSettings['operation']>(n8n, item, importAsProperty);
	const write = (await run.api.describe(resource.path))?.[operation];
	run.api.requireDescription('Import File');
	if (!write?.job) {
		throw new Error(`The CRM’s API description does not say how files are imported for ${resource.path} (${operation}; ${ruleNumber(14)}). Read the file with Extract from File, and write its rows with the node’s other operations.`);
	}
	const path = collectionPath(run, item);
	const isPreview = parsePreview(n8n.getNodeParameter('preview', item, true));
	const { match } = write.job;
	const matchName = decided || operation !== 'upsert' ? decided?.matchOn : requireMatchField(run, match, chosenMatchField(run, 'matchOn', item));
	const matchOn = matchName === undefined ? undefined : await uniqueField(run, path, write.fields, matchName);
	return {
		item,
		fileName,
		...(related && { related }),
		operation,
		fields: operation === 'delete' ? [idField] : operation === 'update' ? [idField, ...write.fields.filter(({ name }) => name !== 'id')] : write.fields,
		path,
		isPreview,
		creator: decided?.creator ?? new ImportCreator(run, isPreview, await otherOwner(run)),
		description: write.job,
		query: { ...jobQuery(write.job, path), ...(match && matchOn !== undefined && { [match.name]: matchOn.name }) },
		matchOn,
		leavesOut: chosenOption(n8n, item, refusedValuesOption, 'options.refusedValues') === 'leaveOut',
		refusesRepeated: chosenOption(n8n, item, repeatedRowsOption, 'options.repeatedRows') === 'refuse',
		clearsEmpty: chosenOption(n8n, item, emptyCells, 'options.emptyCells') === 'clear',
	};
}

/** The field to match on. @throws Error in the user's words for a custom field whose values need not be unique */
async function uniqueField(run: NodeRun, path: Collection, fields: Field[], name: string): Promise<Field> {
	const field = await fieldToMatchOn(run, path, fields, name);
	if (field.unique !== false) return field;
	throw new Error(`Match On: several records may have the same ${field.label}, so nothing was sent. Choose a field that is unique.`);
}

/** Why a row was not written. */
export interface RowFailure {
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
	failure?: RowFailure | undefined;
	/** The values that the row is written without, as it has them, with the names of their fields. */
	leftOut?: Array<{ field: string; value: unknown; message: string }>;
}
