import type { IExecuteFunctions } from 'n8n-workflow';

import { customFieldsIfAny } from '../api/customFields';
import { isRecordLink, linksOf, type Link } from '../api/openapi/linkFields';
import { isObject } from '../base/json';
import { externalId } from '../fields/field';
import { readBinary } from '../files/binary';
import { readFileRecords, recordsOfList, type FileRecords } from '../files/rows';
import { meaningText } from '../mapping/fieldNames';
import type { NodeRun, Resource } from '../model';
import { chosenFiles, fileSettingsOf, type ChosenFile } from '../parameters/fileParameters';
import { surveyFile, type FileSurvey } from './fileSurvey';
import { assignedColumns, planColumns } from './importColumns';
import { importSettings, type ColumnPlan, type ImportPlan, type ImportSettings } from './importPlan';
import type { ImportResult } from './importReport';
import { customObjectTypes, fileTypeOf, type FileType } from './recordTypes';

/** A file of the input, and where it is. */
interface InputFile {
	item: number;
	field: string;
	name: string;
	/** Its rows, if the item has them as a list. */
	list?: unknown[];
}

/** A file with its columns, its record type if that is clear, and what the user has chosen for it. */
interface ReadFile extends InputFile, FileType {
	survey: FileSurvey;
	chosen: ChosenFile | undefined;
}

/** A file, and how its rows are imported. */
export interface PlannedFile extends InputFile {
	/** Of its record type. */
	run: NodeRun;
	plan: ImportPlan;
	/** The links of its records to others. */
	links: Link[];
	/** Why it has this record type. */
	why: string;
}

export type ImportedFile = PlannedFile & ImportResult;

/**
 * Reads each file of the input once, and finds its record type.
 *
 * @throws Error in the user's words if there is none, or if one cannot be read
 */
export async function readFiles(run: NodeRun, recordTypes: Resource[]): Promise<ReadFile[]> {
	const { n8n } = run;
	const inputs = inputFiles(n8n);
	const chosenFor = chosenFiles(n8n, inputs.map(({ name }) => name));
	const objectTypes = await customObjectTypes(run, recordTypes);
	const files: ReadFile[] = [];
	for (const input of inputs) {
		const survey = await openFile(n8n, input).then((file) => surveyFile(n8n, file)).catch((error: Error) => {
			throw new Error(`${input.name}: ${error.message}`, { cause: error });
		});
		const file = { ...input, survey, chosen: chosenFor(input.name) };
		files.push({ ...file, ...(await fileTypeOf(run, recordTypes, objectTypes, file)) });
	}
	return files;
}

/** @throws Error in the user's words if the input has no file */
function inputFiles(n8n: IExecuteFunctions): InputFile[] {
	const files = n8n.getInputData().flatMap(({ binary = {}, json }, item): InputFile[] => [
		...Object.entries(binary).map(([field, { fileName }]) => ({ item, field, name: fileName ?? field })),
		...Object.entries(json).flatMap(([name, list]) => (hasRows(list) ? [{ item, field: name, name, list }] : [])),
	]);
	if (files.length > 0) return files;
	throw new Error('The input has no files, so nothing was written. Connect a node that outputs them, such as Read/Write Files from Disk or a form. If the items are rows of a sheet, put them into one field, such as contacts, with an Aggregate node for each sheet.');
}

const hasRows = (value: unknown): value is unknown[] => Array.isArray(value) && value.some(isObject) && !value.every(describesUpload);

/** n8n's form says with these members which files an item has besides. */
const describesUpload = (entry: unknown): boolean => isObject(entry) && Object.keys(entry).sort().join() === 'filename,mimetype,size';

/** Opens a file to read it from its beginning. @throws as `readFileRecords` */
export async function openFile(n8n: IExecuteFunctions, { item, field, name, list }: InputFile): Promise<FileRecords> {
	if (list) return recordsOfList(list);
	const settings = fileSettingsOf(n8n, item);
	const format = /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(name) ? 'ndjson' : /\.json(?:\.gz)?$/i.test(name) ? 'json' : settings.format;
	return await readFileRecords(readBinary(n8n, item, field), { ...settings, format });
}

/**
 * Plans the files that have a record type. The columns of all are checked before fields are created for any.
 *
 * @throws Error in the user's words if a file cannot be imported
 */
export async function planFiles(run: NodeRun, read: ReadFile[]): Promise<PlannedFile[]> {
	const related = new Set(read.flatMap(({ type }) => type?.path ?? []));
	const typed = [];
	for (const { type: resource, survey, chosen, ...file } of read) {
		if (!resource) continue;
		const fileRun = { ...run, resource };
		const settings = await importSettings(fileRun, { item: file.item, fileName: file.name, related }, { operation: 'upsert', matchOn: undefined });
		const mapped = { exceptions: chosen?.columns ?? new Map<string, string>(), only: undefined };
		typed.push({ file, run: fileRun, settings, mapped, survey });
	}
	for (const { run: fileRun, settings, mapped, survey } of typed) await assignedColumns(fileRun, settings, mapped, survey);
	const planned: PlannedFile[] = [];
	for (const { file, run: fileRun, settings: forColumns, mapped, survey } of typed) {
		const columns = await planColumns(fileRun, forColumns, mapped, survey);
		const settings = await settingsFor(fileRun, forColumns, columns, survey.rows);
		const create = (await run.api.describe(fileRun.resource.path))?.create;
		const custom = await customFieldsIfAny(run.api, settings.path, settings.fields);
		const links = linksOf([...(create?.fields ?? []), ...(custom?.fields ?? [])].filter(isRecordLink));
		const plan: ImportPlan = { ...settings, columns, fileNumbers: [file.item, planned.length], lateLinks: [] };
		planned.push({ ...file, run: fileRun, plan, links });
	}
	return planned;
}

/** The settings with which the rows of a file find their records, if its columns identify them. */
async function settingsFor(run: NodeRun, forColumns: ImportSettings, columns: ColumnPlan, rows: number): Promise<ImportSettings> {
	const matchable = forColumns.description.match?.values ?? [];
	const identifies = (field: string) => {
		const { filled = 0 } = columns.all.find((column) => column.filled > 0 && meaningText(column.meaning ?? '') === field) ?? {};
		return field === externalId.name ? filled > 0 : filled === rows;
	};
	const matchOn = [externalId.name, ...matchable].find((name) => matchable.includes(name) && identifies(name));
	const operation = matchOn === undefined ? 'create' : 'upsert';
	return await importSettings(run, forColumns, { operation, matchOn, creator: forColumns.creator });
}
