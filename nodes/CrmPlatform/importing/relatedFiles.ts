import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { customFieldsIfAny } from '../api/customFields';
import { type Collection, filledPath } from '../api/http/path';
import { notReadable } from '../api/http/statuses';
import { isRecordLink, linksOf, type Link } from '../api/openapi/linkFields';
import { recordName } from '../api/record';
import { undefinedIfAnsweredWith } from '../api/refusals';
import { isObject } from '../base/json';
import { listed } from '../base/lists';
import { getOrCreate } from '../base/maps';
import { withoutMembers } from '../base/ownMembers';
import { externalId, allCustomFields } from '../fields/field';
import { BrokenOff, readBinary } from '../files/binary';
import { readFileRecords, recordsOfList, type FileRecords } from '../files/rows';
import { firstRecords } from '../lookUp/lookUp';
import { assignColumns } from '../mapping/assignColumns';
import { chosenSource } from '../mapping/chosenNotations';
import type { Column } from '../mapping/columns';
import { meaningText, wordsOf } from '../mapping/fieldNames';
import { recordWords } from '../mapping/usualNames';
import type { NodeRun, Resource } from '../model';
import { chosenFiles, fileSettingsOf, type ChosenFile } from '../parameters/fileParameters';
import { isBlank } from '../values/blank';
import { parseOption } from '../values/parsers';
import type { ExpectedRecords } from './expectedRecords';
import { surveyFile, type FileSurvey } from './fileSurvey';
import { assignedColumns, planColumns, assignableFields } from './importColumns';
import { chosenToCreate, importSettings, type ColumnPlan, type ImportPlan, type ImportSettings } from './importPlan';
import type { ImportResult } from './importReport';
import { importRows } from './importRows';

interface InputFile {
	item: number;
	field: string;
	name: string;
	/** Its rows, if the item has them as a list. */
	list?: unknown[];
}

interface ReadFile extends InputFile, FileContent {
	chosen: ChosenFile | undefined;
}

export interface PlannedFile extends InputFile {
	/** Of its record type. */
	run: NodeRun;
	plan: ImportPlan;
	links: Link[];
	/** Why it has this record type. */
	why: string;
}

export type ImportedFile = PlannedFile & ImportResult;

/**
 * Reads each file of the input once, and finds its record type.
 *
 * @throws Error in the user's words if there is none, or if the user has chosen what is not there
 */
export async function readFiles(run: NodeRun, recordTypes: Resource[]): Promise<ReadFile[]> {
	const { n8n } = run;
	const inputs = inputFiles(run);
	const chosenFor = chosenFiles(n8n, inputs.map(({ name }) => name));
	const objectTypes = await customObjectTypes(run, recordTypes);
	await noteListsBesideFiles(run, recordTypes, objectTypes);
	const files: ReadFile[] = [];
	for (const input of inputs) {
		const chosen = chosenFor(input.name);
		files.push({ ...input, chosen, ...(await contentOf(run, recordTypes, objectTypes, { ...input, chosen })) });
	}
	return files;
}

/** @throws Error in the user's words if the input has no file */
function inputFiles({ n8n }: NodeRun): InputFile[] {
	const files = n8n.getInputData().flatMap(({ binary = {}, json }, item): InputFile[] => {
		const stored = Object.entries(binary).map(([field, { fileName }]) => ({ item, field, name: fileName ?? field }));
		return stored.length > 0 ? stored : listsOf(json).map(([name, list]) => ({ item, field: name, name, list }));
	});
	if (files.length > 0) return files;
	throw new Error('The input has no files, so nothing was written. Connect a node that outputs them, such as Read/Write Files from Disk or a form. If the items are rows of a sheet, put them into one field, such as contacts, with an Aggregate node for each sheet.');
}

/** The lists of an item that may be rows. */
const listsOf = (json: IDataObject): Array<[string, unknown[]]> =>
	Object.entries(json).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]) && entry[1].some(isObject));

/** n8n's form says with these members which files an item has. */
const describesUpload = (entry: unknown): boolean => isObject(entry) && Object.keys(entry).sort().join() === 'filename,mimetype,size';

/** Names lists of records that are not imported. Most lists beside files say something about these, such as who may see a download. */
async function noteListsBesideFiles(run: NodeRun, recordTypes: Resource[], objectTypes: Resource[]): Promise<void> {
	const lists = new Map<string, unknown[][]>();
	for (const { binary = {}, json } of run.n8n.getInputData()) {
		if (Object.keys(binary).length === 0) continue;
		for (const [name, list] of listsOf(json)) if (!list.every(describesUpload)) getOrCreate(lists, name, () => []).push(list);
	}
	const ofRecords: string[] = [];
	for (const [name, entries] of lists) {
		const { columns } = await surveyFile(run.n8n, recordsOfList(entries.flat()));
		const { why, isUncertain } = await recognizedType(run, recordTypes, objectTypes, name, columns);
		if (!isUncertain && why !== unrecognized) ofRecords.push(name);
	}
	if (ofRecords.length === 0) return;
	run.api.notices.add(`Not imported, because the items also have files: ${listed(ofRecords)}. To import a list, put it into an item without files.`);
}

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
		if (!resource || !survey) continue;
		const fileRun = { ...run, resource };
		const settings = await importSettings(fileRun, { item: file.item, fileName: file.name, related }, { operation: 'upsert', matchName: undefined });
		const mapped = { exceptions: chosen?.columns ?? new Map<string, string>(), only: undefined };
		typed.push({ file, run: fileRun, settings, mapped, survey });
	}
	for (const { run: fileRun, settings, mapped, survey } of typed) await assignedColumns(fileRun, settings, mapped, survey);
	const planned: PlannedFile[] = [];
	for (const { file, run: fileRun, settings: forColumns, mapped, survey } of typed) {
		const columns = await planColumns(fileRun, forColumns, mapped, survey);
		const settings = await settingsFor(fileRun, forColumns, columns, survey.readable);
		const create = (await run.api.describe(fileRun.resource.path))?.create;
		const custom = await customFieldsIfAny(run.api, settings.path, settings.fields);
		const links = linksOf([...(create?.fields ?? []), ...(custom?.fields ?? [])].filter(isRecordLink));
		const plan: ImportPlan = { ...settings, columns, fileNumbers: [file.item, planned.length], lateLinks: [] };
		planned.push({ ...file, run: fileRun, plan, links });
	}
	return planned;
}

/** The settings with which the rows of a file find their records, if its columns identify them. */
async function settingsFor(run: NodeRun, forColumns: ImportSettings, columns: ColumnPlan, readable: number): Promise<ImportSettings> {
	const matchable = forColumns.description.match?.values ?? [];
	const identifies = (field: string) => {
		const { filled = 0 } = columns.all.find((column) => column.filled > 0 && meaningText(column.meaning ?? '') === field) ?? {};
		return filled > 0 && (field === externalId.name || filled === readable);
	};
	const matchName = [externalId.name, ...matchable].find((name) => matchable.includes(name) && identifies(name));
	const operation = matchName === undefined ? 'create' : 'upsert';
	return await importSettings(run, forColumns, { operation, matchName });
}

/** Orders files so that linked records are written first; links for which that is impossible wait until all are written. */
export function inOrderOfLinks(files: PlannedFile[]): PlannedFile[] {
	const ordered: PlannedFile[] = [];
	let unordered = files;
	while (unordered.length > 0) {
		const waiting = new Set(unordered.map(({ plan }) => plan.path));
		const isReady = ({ plan: { path }, links }: PlannedFile) =>
			links.every(({ target }) => target === path || !waiting.has(target));
		// Of a circle, one to which others link: they may need their links at once.
		const isLinked = ({ plan: { path } }: PlannedFile) =>
			unordered.some(({ plan, links }) => plan.path !== path && links.some(({ target }) => target === path));
		const { path: next } = (unordered.find(isReady) ?? unordered.find(isLinked) ?? unordered[0]!).plan;
		for (const file of unordered.filter(({ plan }) => plan.path === next)) {
			ordered.push({ ...file, plan: { ...file.plan, ...withoutLateLinks(file.plan.columns, file.links, waiting) } });
		}
		unordered = unordered.filter(({ plan }) => plan.path !== next);
	}
	return ordered;
}

/** Where the columns of a file go, except for links to records of the waiting collections. */
function withoutLateLinks(columns: ColumnPlan, links: Link[], waiting: ReadonlySet<Collection>): Pick<ImportPlan, 'columns' | 'lateLinks'> {
	// A record without a required link could not be created.
	const late = new Set(links.flatMap(({ field, target }) => (!field.required && waiting.has(target) ? [field.name] : [])));
	const filled = columns.all.filter((column) => column.filled > 0);
	const lateLinks = filled.flatMap(({ name, meaning = '' }): ImportPlan['lateLinks'] =>
		(late.has(meaningText(meaning)) ? [[meaningText(meaning), name]] : []));
	const lateColumns = new Set(lateLinks.map(([, column]) => column));
	return { columns: { ...columns, fields: columns.fields.filter(([, column]) => !lateColumns.has(column)) }, lateLinks };
}

/** The settings for the late links of a file. @throws as `importSettings` */
export const lateLinkSettings = async ({ run, plan }: PlannedFile): Promise<ImportSettings> =>
	await importSettings(run, plan, { operation: 'update', matchName: undefined });

/**
 * @param fileNumbers distinguishes its jobs from those that wrote the records
 * @returns the file with their results
 * @throws as `importRows`
 */
export async function importLateLinks(file: ImportedFile, fileNumbers: number[], expected: ExpectedRecords): Promise<ImportedFile> {
	const { run, plan: { lateLinks }, ids } = file;
	if (lateLinks.length === 0) return file;
	const plan: ImportPlan = {
		...(await lateLinkSettings(file)),
		columns: { fields: lateLinks, all: [] },
		fileNumbers,
		lateLinks: [],
		writtenIds: ids,
	};
	const opened = await openFile(run.n8n, file);
	const { json, files } = await importRows(run, plan, { ...opened, rows: linkedRows(opened.rows, plan, ids) }, expected);
	const { rows, failed, unknown = 0, left_out, reasons } = json;
	return { ...file, json: { ...file.json, links: { rows, failed, unknown, left_out, reasons } }, files: { ...file.files, ...files } };
}

/** The rows of a file that have late links, or cells that clear them, and whose records were written. */
async function* linkedRows(rows: FileRecords['rows'], { columns, clearsEmpty }: ImportPlan, ids: ImportedFile['ids']): FileRecords['rows'] {
	for await (const read of rows) {
		yield read.filter(({ row, content = {} }) => {
			const changes = (column: string) => (clearsEmpty ? Object.hasOwn(content, column) : !isBlank(content[column]));
			return ids.has(row) && columns.fields.some(([, column]) => changes(column));
		});
	}
}

/** The record type of a file, if that is clear, and why it has this one or none, in the user's words. */
interface FileType {
	type?: Resource;
	why: string;
	/** Whether only columns say so, and most are no fields of it: those who may see a download have names and emails, too. */
	isUncertain?: boolean;
}

/** What is in a file, if it can be read. */
interface FileContent extends FileType {
	survey?: FileSurvey;
	/** Whether the others are imported without it. */
	isLeftOut?: true;
}

const byName = 'By the name of the file';
const unrecognized = 'Neither its name nor its columns say what it has. Choose its record type under Files.';

/**
 * Reads a file, unless the user has left it out, and finds its record type.
 *
 * @param objectTypes those of the account's custom objects, which files have the name of
 * @throws Error in the user's words if the user has chosen another word than a record type
 */
async function contentOf(
	run: NodeRun, recordTypes: Resource[], objectTypes: Resource[], file: InputFile & Pick<ReadFile, 'chosen'>,
): Promise<FileContent> {
	const values = recordTypes.map(({ value }) => value);
	const chosenValue = parseOption('Files → Record Type', file.chosen?.typeValue, ['none', ...values], { otherwise: '' });
	if (chosenValue === 'none') return { isLeftOut: true, why: 'Left out by choice.' };
	// A wrong choice or a failing store makes no file unreadable.
	if (!file.list) fileSettingsOf(run.n8n, file.item);
	chosenToCreate(run.n8n);
	const survey = await openFile(run.n8n, file).then((opened) => surveyFile(run.n8n, opened)).catch((error: Error) => {
		if (error instanceof BrokenOff || error.name !== 'Error') throw error;
		return error;
	});
	if (survey instanceof Error) return { why: `${survey.message} To import the others without it, choose Do Not Import for it under Files.` };
	if (survey.rows === 0) return { isLeftOut: true, why: 'Left out because it has no rows.' };
	const type = recordTypes.find(({ value }) => value === chosenValue);
	return { survey, ...(type ? { type, why: 'Chosen' } : await recognizedType(run, recordTypes, objectTypes, file.name, survey.columns)) };
}

/** The record type that the name of a file says; otherwise, the one with the most of its columns. */
async function recognizedType(
	run: NodeRun, recordTypes: Resource[], objectTypes: Resource[], name: string, columns: Column[],
): Promise<FileType> {
	const nameWords = wordsOf(name.replace(/(\.\w+)+$/, ''));
	const [objectType, ...more] = objectTypes.filter((type) => [type.name, type.value].some((text) => wordsOf(text) === nameWords));
	if (objectType && more.length === 0) return { type: objectType, why: byName };
	const words = wordsInName(name);
	const named = recordTypes.filter((type) => [...(recordWords[type.path] ?? []), type.name.toLowerCase()].some((word) => words.has(word)));
	const candidates = [...new Set([...named, ...recordTypes.filter(({ path }) => recordWords[path])])];
	const filled = columns.filter((column) => column.filled > 0);
	const counted = await Promise.all(candidates.map(async (type) => ({ type, count: await countFields(run, type, filled) })));
	counted.sort((a, b) => b.count - a.count);
	const ofName = counted.filter(({ type }) => named.includes(type));
	const [best, second] = ofName.length > 1 ? ofName : counted;
	const [only] = ofName.length === 1 ? ofName : [];
	if (only && only.count * 2 >= best!.count) return { type: only.type, why: byName };
	if (only) return { why: `Its name says ${only.type.name}, but its columns say ${best!.type.name}. Choose its record type under Files.` };
	const isClear = best && best.count >= 2 && best.count !== second?.count;
	if (!isClear) return { why: unrecognized };
	const isUncertain = best.count * 2 < filled.length;
	return { type: best.type, isUncertain, why: `${best.count} of ${filled.length} filled columns are fields of this record type` };
}

/** The words in the name of a file, as one record is called. A lead is a person, a company or a deal, each in some systems. */
function wordsInName(file: string): ReadonlySet<string> {
	const words = file.normalize('NFC').toLowerCase().replace(/\.\w+$/, '').split(/[^\p{L}]+/u);
	const singular = words.map((word) => (word === 'people' ? 'person' : word.replace(/ies$/, 'y').replace(/s$/, '')));
	return new Set(singular.filter((word) => word !== 'lead'));
}

async function countFields(run: NodeRun, resource: Resource, columns: Column[]): Promise<number> {
	const fields = (await run.api.describe(resource.path))?.create?.fields ?? [];
	const records = { path: resource.path, fields: fields.filter((field) => field.name !== allCustomFields) };
	const assigned = assignColumns(columns, await assignableFields({ ...run, resource }, records, chosenSource(run.n8n)));
	return assigned.filter(({ meaning }) => meaning !== undefined).length;
}

async function customObjectTypes({ api }: NodeRun, recordTypes: Resource[]): Promise<Resource[]> {
	const type = recordTypes.find(({ parents }) => parents);
	if (!type) return [];
	const objects = await firstRecords(api, '/custom-objects', Infinity).catch(undefinedIfAnsweredWith(...notReadable));
	return (objects ?? []).map((object): Resource => {
		const value = String(object.key);
		return { ...withoutMembers(type, 'parents'), name: recordName(object) ?? value, value, path: filledPath(type.path, () => value) };
	});
}
