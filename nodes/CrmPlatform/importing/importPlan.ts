import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { oncePerConnection } from '../api/connection';
import { type Collection, type Query, collectionName, encodedPath } from '../api/http/path';
import { ruleNumber } from '../api/http/rules';
import { jobQuery, type JobDescription } from '../api/openapi/writing';
import { findRecord } from '../api/record';
import { listed } from '../base/lists';
import { ownMember } from '../base/ownMembers';
import { idField, type Field } from '../fields/field';
import { lookUpNames } from '../lookUp/byName';
import { mayBeId } from '../lookUp/names';
import { partsIn } from '../lookUp/parts';
import type { AssignedColumn } from '../mapping/assignColumns';
import { collectionPath } from '../mapping/locator';
import type { NodeRun, MissingTargets, Write } from '../model';
import { emptyCells } from '../parameters/fieldParameters';
import { importAsProperty, refusedValuesOption, repeatedRowsOption } from '../parameters/fileParameters';
import { chosenOption } from '../parameters/properties';
import { foldedText } from '../values/foldedText';
import { parsePreview, parseText } from '../values/parsers';
import { chosenMatchField, fieldToMatchOn, requireMatchField } from '../writing/requireWrite';
import { RecordCreator, stageNamed, valuesNamed } from '../writing/recordCreator';
import { forSeveral, sendAlone } from '../writing/sendAlone';
import { protectVersions, versionOf } from '../writing/versions';

interface FileToImport {
	item: number;
	/** Its name, which begins the names of its reports. */
	fileName: string | undefined;
	/** The collections whose records are imported together; undefined for a single file. */
	related?: ReadonlySet<Collection>;
}

export interface ImportSettings extends FileToImport {
	operation: 'create' | 'update' | 'upsert' | 'delete';
	/** The fields that a row may have, with the ID of the record to change. */
	fields: Field[];
	/** Path of the records, with the ids of the parents. */
	path: Collection;
	/** Whether to write nothing and to check each value against the description. */
	isPreview: boolean;
	creator: ImportCreator;
	description: JobDescription;
	/** The query that starts a job. */
	query: Query;
	/** The field by which records are found, if the query names one. */
	matchField: Field | undefined;
	clearsEmpty: boolean;
	/** Whether values that do not fit their fields are left out; otherwise their row is refused. */
	leavesOut: boolean;
	/** Whether a row with the key of an earlier one is refused; otherwise the later one wins. */
	refusesRepeated: boolean;
}

/** A hint. If several files are imported, it begins with the name of its file. */
export const inFile = ({ fileName, related }: FileToImport, text: string): string => (related ? `${fileName}: ${text}` : text);

export interface ColumnPlan {
	/**
	 * The columns that are imported, and the name or label of the field of each. Unless the user has mapped each field, their order
	 * depends on the file alone: a column that became a custom field in an earlier attempt is not renamed in the next one.
	 */
	fields: Array<[field: string, column: string]>;
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
 * @param file or earlier settings, of which the choices of the user stay
 * @param decided what becomes of the rows, if the user does not choose it
 * @throws Error in the user's words if the service does not offer the import, or if a parameter is wrong
 */
export async function importSettings(
	run: NodeRun, file: FileToImport | ImportSettings, decided?: Pick<ImportSettings, 'operation'> & { matchName: string | undefined },
): Promise<ImportSettings> {
	const { n8n, resource } = run;
	const { item } = file;
	const operation = decided?.operation ?? chosenOption<ImportSettings['operation']>(n8n, item, importAsProperty);
	const write = (await run.api.describe(resource.path))?.[operation];
	run.api.requireDescription('Import File');
	if (write?.replaces) {
		const advice = decided ? 'Leave out the columns of the links that wait for other records.' : 'Read the file with Extract from File, and use Update.';
		throw new Error(`Files cannot update records of ${resource.path}: the CRM replaces whole records (PUT), and a row may have only some of the fields. ${advice}`);
	}
	if (!write?.job) {
		throw new Error(`The CRM’s API description does not say how files are imported for ${resource.path} (${operation}; ${ruleNumber(14)}). Read the file with Extract from File, and write its rows with the node’s other operations.`);
	}
	const chosen = 'creator' in file ? file : await choicesFor(run, file, operation);
	const { path } = chosen;
	const { match } = write.job;
	const matchName = decided || operation !== 'upsert' ? decided?.matchName : requireMatchField(run, match, chosenMatchField(run, 'matchOn', item));
	const matchField = matchName === undefined ? undefined : await uniqueField(run, path, write.fields, matchName);
	return {
		...chosen,
		operation,
		fields: operation === 'delete' ? [idField] : operation === 'update' ? [idField, ...write.fields.filter(({ name }) => name !== 'id')] : write.fields,
		description: write.job,
		query: { ...jobQuery(write.job, path), ...(match && matchField !== undefined && { [match.name]: matchField.name }) },
		matchField,
	};
}

/** What the user chooses of a file. @param operation what becomes of the rows of a single one */
async function choicesFor(run: NodeRun, file: FileToImport, operation: ImportSettings['operation']) {
	const { n8n } = run;
	const { item } = file;
	const isPreview = parsePreview(n8n.getNodeParameter('preview', item, true));
	const path = collectionPath(run, item);
	const leavesOut = chosenOption(n8n, item, refusedValuesOption, 'options.refusedValues') === 'leaveOut';
	const imported = file.related || operation === 'update' || operation === 'delete' ? undefined : path;
	return {
		...file,
		path,
		isPreview,
		creator: new ImportCreator(run, isPreview, { ownerId: await otherOwner(run), imported, leavesOut }),
		leavesOut,
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
	done?: { action: 'created' | 'updated' | 'deleted'; id: string };
	failure?: RowFailure | undefined;
	/** The values that the row is written without, as it has them, with the names of their fields. */
	leftOut?: Array<{ field: string; value: unknown; message: string }>;
}

/** A row names a record that another row of the file may bring: created for the link, it would exist twice. */
export class InAnotherRow extends Error {}

/** Creates what rows and columns of files name and the CRM lacks, as the user has chosen in *Create What Is Missing*. */
class ImportCreator extends RecordCreator implements MissingTargets {
	/** As stored: `companies`, `customFields`. */
	private readonly choices: readonly string[] = chosenToCreate(this.run.n8n);
	private readonly decided: { ownerId: unknown; imported: Collection | undefined; leavesOut: boolean };
	/** The records that rows name and that are not created: `companies`. */
	private readonly missingNouns = new Set<string>();

	/** @param decided the user who stands for unknown ones, the collection whose records the file itself may bring, and what becomes of wrong values */
	constructor(run: NodeRun, isPreview: boolean, decided: ImportCreator['decided']) {
		super(run, isPreview);
		this.decided = decided;
	}

	creates(choice: string): boolean {
		return this.choices.includes(choice);
	}

	/**
	 * @returns the ID of the new record, or of the user who stands for unknown ones; undefined refuses the name
	 * @throws Error why a text is not taken for a name
	 */
	addRecord: NonNullable<MissingTargets['addRecord']> = async (collection, text, isWritten) => {
		const nouns = collectionName(collection);
		const { ownerId, imported, leavesOut } = this.decided;
		if (nouns === 'users') {
			this.missingNouns.add(nouns);
			return ownerId;
		}
		if (!valuesNamed(nouns, text)) return undefined;
		// The record that an ID of another system means is in none of the files, or was refused.
		const isId = nouns !== 'tags' && mayBeId(text) && /\d/.test(text);
		if (collection === imported) {
			if (isId || (!this.creates(nouns) && (mayBeId(text) || leavesOut))) return undefined;
			throw new InAnotherRow('it may be in another row of this file: import it first, then this row again.');
		}
		if (!this.creates(nouns)) {
			if (!isId) this.missingNouns.add(nouns);
			return undefined;
		}
		if (isId) throw new Error(`it may be an ID. If it is a name, enter ${text} → name:${text} in Values In → Value Map.`);
		return await this.create(collection, text, isWritten);
	};

	/** Adds a stage to a pipeline. */
	addPart: NonNullable<MissingTargets['addPart']> = async (collection, name, pipeline) => {
		if (collection !== '/pipelines') return undefined;
		const stage = stageNamed(name);
		const title = `${pipeline.name}: ${name} (${stage.kind})`;
		const { run, isPreview } = this;
		if (isPreview) {
			this.add('stages', title);
			return { name, id: name };
		}
		const id = String(pipeline.id);
		const path = collection + encodedPath`/${id}`;
		const update = (await run.api.describe(collection))?.update;
		const record = await findRecord(run.api, path);
		if (!update || !Array.isArray(record?.stages)) return undefined;
		const stageIn = (of: IDataObject) => partsIn(of, 'stages').find((part) => foldedText(part.name) === foldedText(name));
		const added = stageIn(record);
		if (added) return added.isUnique ? added : undefined;
		const body = { stages: [...(record.stages as IDataObject[]), stage] };
		protectVersions(run, update, [record]);
		const write: Write = { collection, id, path, body, version: versionOf(record) };
		const written = await sendAlone(run, update, write, forSeveral('stage', `${id} ${foldedText(name)}`));
		this.add('stages', title);
		return stageIn(written.record);
	};

	/** Which options would create the records that do not exist, or replace them. */
	get advice(): Array<string | false> {
		const choices = listed([...this.missingNouns].flatMap((nouns) => ownMember(creatable, nouns) ?? []));
		const lacksOwner = this.missingNouns.has('users') && this.decided.ownerId === undefined;
		return [
			choices !== '' && `Some of the named ${choices.toLowerCase()} do not exist: to create them, choose Create What Is Missing → ${choices}.`,
			lacksOwner && 'Some owners are no users of the CRM: enter in Owner for the Others the email of the user who gets their records.',
		];
	}
}

export const chosenToCreate = (n8n: IExecuteFunctions): string[] => n8n.getNodeParameter('options.createMissing', 0, []) as string[];

/** The choices of *Create What Is Missing* for records. */
const creatable: Record<string, string> = { companies: 'Companies', pipelines: 'Pipelines and Stages', tags: 'Tags' };

/** The user of a name, once for all files. */
const userCalled = oncePerConnection(async (api, text: string) => (await lookUpNames(api, '/users', [text])).get(text));

/** The ID of the user in *Owner for the Others*. @throws Error in the user's words if there is none or several */
async function otherOwner({ n8n, api }: NodeRun): Promise<unknown> {
	const text = parseText('Owner for the Others', n8n.getNodeParameter('options.otherOwner', 0, ''), { otherwise: '' }).trim();
	if (text === '') return undefined;
	const result = await userCalled(api, text);
	if (result && 'found' in result) return result.found;
	throw new Error(`Owner for the Others: no single user is “${text}”. Enter the email of a user. Nothing was written.`);
}
