import type { IBinaryKeyData, IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { isRecordLink } from '../api/openapi/linkFields';
import type { Collection } from '../api/http/path';
import { isObject } from '../base/json';
import { getOrCreate } from '../base/maps';
import { externalId, sourceId, type Field } from '../fields/field';
import { readBinary } from '../files/binary';
import type { FileRow } from '../files/fileRow';
import { readFileRecords, recordsOfList, type FileRecords } from '../files/rows';
import { parseName } from '../lookUp/names';
import { chosenSource } from '../mapping/chosenNotations';
import { customFieldsIfAny } from '../api/customFields';
import { ItemWithFiles, type MissingTargets, type NodeRun, type Operation, type OutputItem, type Resource, type Results } from '../model';
import { chosenFiles, fileSettingsOf, importOptions, relatedFilesProperties, type ChosenFile } from '../parameters/fileParameters';
import { isBlank } from '../values/blank';
import { parsePreview } from '../values/parsers';
import { ExpectedRecords } from '../importing/expectedRecords';
import { surveyFile, type FileSurvey } from '../importing/fileSurvey';
import { fieldsOfColumns, planColumns } from '../importing/importColumns';
import { inFile, type ColumnPlan, type ImportPlan } from '../importing/importPlan';
import { importRows } from '../importing/importRows';
import { customObjectTypes, fileTypeOf, leftOutByChoice, type FileType } from '../importing/recordTypes';
import { writeOncePerOption } from '../parameters/outputParameters';
import { planOf } from './importFile';

/** Imports the files of another system: detects the record type of each, and writes them in the order of their links. */
export function importRelatedFiles(recordTypes: Resource[]): Operation {
	return {
		option: {
			name: 'Import Related Files',
			value: 'moveIn',
			action: 'Import related files',
			description: 'Move in from another system: files of several record types with their links',
		},

		properties: () => relatedFilesProperties(recordTypes),
		options: [...importOptions, writeOncePerOption],
		output: null,
		isForAllTypes: true,

		prepare: (run) => ({
			size: run.n8n.getInputData().length,
			atOnce: 1,
			handle: async () => await importRelated(run, recordTypes),
		}),
	};
}

/** A file of the input, and where it is. */
interface InputFile {
	item: number;
	field: string;
	name: string;
	/** Its rows, if the item has them as a list. */
	list?: unknown[];
}

/** A file with its columns and its record type. */
interface ReadFile extends InputFile, FileType {
	survey: FileSurvey;
	chosen: ChosenFile | undefined;
}

/** How a file is imported. */
interface PlannedFile extends InputFile {
	/** Of its record type. */
	run: NodeRun;
	plan: ImportPlan;
	fields: Field[];
	why: string;
	/** The links to records that do not exist before all files are written: field and column. */
	lateLinks: Array<[field: string, column: string]>;
}

interface ImportedFile extends PlannedFile {
	/** The ID of the record of each row that has late links; in a preview, only which rows would be written. */
	ids: Map<number, string>;
	json: IDataObject;
	files: IBinaryKeyData;
}

async function importRelated(run: NodeRun, recordTypes: Resource[]): Promise<Results> {
	const { n8n } = run;
	const source = chosenSource(n8n);
	if (source === undefined) throw new Error('Source Name is empty. Enter the system that the files come from, such as hubspot. Nothing was written.');
	const isPreview = parsePreview(n8n.getNodeParameter('preview', 0, true));
	const read = await readFiles(run, recordTypes);
	const unclear = read.find(({ type, why }) => !type && why !== leftOutByChoice);
	if (unclear && !isPreview) throw new Error(`${unclear.name}: ${unclear.why} Nothing was written.`);
	const expected: Expectations = new Map();
	const missing = { willExist: expectedBy(expected, source) };
	const ordered = inOrderOfLinks(await planFiles({ ...run, ...(isPreview && { missing }) }, read));
	const imported: ImportedFile[] = [];
	for (const [index, file] of ordered.entries()) {
		imported.push(await importRecords(file, index, expectedOf(expected, file)));
	}
	const linked: ImportedFile[] = [];
	for (const [index, file] of imported.entries()) {
		linked.push(file.lateLinks.length > 0 ? await importLinks(file, ordered.length + index, expectedOf(expected, file)) : file);
	}
	const others = read.filter(({ type }) => !type);
	const all = [...linked, ...others.map(({ item, name, why }) => ({ item, json: { file: name, record_type: null, why }, files: {} }))];
	const results = n8n.getInputData().map((_, i) =>
		all.filter(({ item }) => item === i).map(({ json, files }): OutputItem => new ItemWithFiles(json, files)));
	if (!isPreview) results.at(-1)?.push({ comparison: await compareWithCrm(run, source, imported, expected) });
	return results;
}

/** Whether a row of the files has an ID or name. */
const expectedBy = (all: Expectations, source: string): NonNullable<MissingTargets['willExist']> => (collection, text) => {
	const { name } = parseName(text);
	const records = all.get(collection);
	return records?.hasId(name) || records?.hasId(sourceId(source, name)) ? 'id' : records?.named(name);
};

/** Reads each file once, and finds its record type. */
async function readFiles(run: NodeRun, recordTypes: Resource[]): Promise<ReadFile[]> {
	const { n8n } = run;
	const inputs = inputFiles(n8n);
	const chosenFor = chosenFiles(n8n, inputs.map(({ name }) => name));
	const objectTypes = await customObjectTypes(run, recordTypes);
	const files: ReadFile[] = [];
	for (const input of inputs) {
		const survey = await openFile(n8n, input).then((file) => surveyFile(n8n, file)).catch((error: Error) => {
			throw new Error(inFile(input, error.message), { cause: error });
		});
		const file = { ...input, survey, chosen: chosenFor(input.name) };
		files.push({ ...file, ...(await fileTypeOf(run, recordTypes, objectTypes, file)) });
	}
	return files;
}

/** Plans the files that have a record type. The columns of all are checked before fields are created for any. */
async function planFiles(run: NodeRun, read: ReadFile[]): Promise<PlannedFile[]> {
	const related = new Set(read.flatMap(({ type }) => type?.path ?? []));
	const typed = [];
	for (const { type: resource, survey, chosen, ...input } of read) {
		if (!resource) continue;
		const file = { ...input, run: { ...run, resource } };
		const base = await planOf(file.run, file.item, { operation: 'upsert' });
		const mapped = { exceptions: chosen?.columns ?? new Map<string, string>(), only: undefined };
		typed.push({ file, target: { ...base, name: file.name, related }, mapped, survey });
	}
	for (const { file, target, mapped, survey } of typed) await fieldsOfColumns(file.run, target, mapped, survey);
	const planned: PlannedFile[] = [];
	for (const { file, target, mapped, survey } of typed) {
		planned.push(await planFile(file, await planColumns(file.run, target, mapped, survey), survey.rows, target.missing));
	}
	return planned;
}

/** What the files of each record type should lead to. */
type Expectations = Map<Collection, ExpectedRecords>;

const expectedOf = (all: Expectations, file: PlannedFile): ExpectedRecords => getOrCreate(all, targetOf(file), () => {
	const links = file.fields.filter((field) => isRecordLink(field) && field.path.length === 1);
	return new ExpectedRecords(links.map(({ name }) => name));
});

/** Imports a file, without its late links. */
async function importRecords(file: PlannedFile, index: number, expected: ExpectedRecords): Promise<ImportedFile> {
	const { run, lateLinks, plan: { isPreview, matchOn } } = file;
	const ids = new Map<number, string>();
	const noteId = (row: number, id: string) => void (lateLinks.length > 0 && ids.set(row, id));
	const plan: ImportPlan = {
		...file.plan,
		fileKey: [file.item, index],
		noteReady(row, values) {
			expected.addId(values);
			if (!isPreview) return;
			noteId(row, String(row));
			expected.addNames(values, matchOn ?? `row ${index}/${row}`);
		},
		noteResults(rows) {
			for (const { row, done } of rows) if (done) noteId(row, done.id);
		},
	};
	const { json, files } = await importRows(run, plan, await openFile(run.n8n, file));
	if (matchOn === externalId.name) expected.rows += Number(json.rows) - (plan.refusesRepeated ? Number(json.repeated) : 0);
	const about = { file: file.name, record_type: run.resource.name, why: file.why, matched_on: matchOn ?? null };
	return { ...file, ids, json: { ...about, ...json }, files };
}

/** Compares the rows of the files with IDs with the records in the CRM, by record type. */
async function compareWithCrm(run: NodeRun, source: string, imported: ImportedFile[], all: Expectations): Promise<IDataObject[]> {
	const compared = [...all].map(async ([collection, records]): Promise<IDataObject[]> => {
		const files = imported.filter((file) => targetOf(file) === collection && file.plan.matchOn === externalId.name);
		const [first] = files;
		const counts = first && (await records.compare(run, collection, source));
		return counts ? [{ record_type: first.run.resource.name, files: files.map(({ name }) => name), ...counts }] : [];
	});
	return (await Promise.all(compared)).flat();
}

const targetOf = ({ run: { resource } }: PlannedFile): Collection => resource.path;

/** Writes the links that had to wait into the records that were written. @returns the file with their results */
async function importLinks(file: ImportedFile, index: number, expected: ExpectedRecords): Promise<ImportedFile> {
	const { run, item, name, plan: { missing }, lateLinks, ids } = file;
	const plan: ImportPlan = {
		...(await planOf(run, item, { operation: 'update', missing })),
		name,
		columns: { renamed: [], unplaced: new Set<string>(), table: [] },
		fileKey: [item, index],
		noteReady: (_, values) => expected.addLinks(values.id, values),
		isLinking: true,
	};
	const opened = await openFile(run.n8n, file);
	async function* rowsWithLinks(): FileRecords['rows'] {
		for await (const read of opened.rows) {
			const linked: Array<FileRow<IDataObject>> = [];
			for (const { row, content = {} } of read) {
				const id = ids.get(row);
				const values = lateLinks.filter(([, column]) => !isBlank(content[column])).map(([field, column]) => [field, content[column]]);
				if (id !== undefined && values.length > 0) linked.push({ row, content: { id, ...Object.fromEntries(values) } as IDataObject });
			}
			yield linked;
		}
	}
	const columns = opened.columns && ['id', ...lateLinks.map(([field]) => field)];
	const { json: { rows, failed, reasons }, files } = await importRows(run, plan, { ...opened, columns, rows: rowsWithLinks() });
	const json = { ...file.json, links: { rows, failed, reasons } };
	if (Number(failed) === 0 || !files.failed) return { ...file, json };
	const unlinked = { ...files.failed, fileName: files.failed.fileName?.replace(/failed(?=\.\w+$)/, 'unlinked') ?? 'unlinked' };
	run.api.notices.add(`${name}: ${String(failed)} links to records of the same files lead nowhere. The file “unlinked” has them with the reasons.`);
	return { ...file, json, files: { ...file.files, unlinked } };
}

async function openFile(n8n: IExecuteFunctions, { item, field, name, list }: InputFile): Promise<FileRecords> {
	if (list) return recordsOfList(list);
	const settings = fileSettingsOf(n8n, item);
	const format = /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(name) ? 'ndjson' : /\.json(?:\.gz)?$/i.test(name) ? 'json' : settings.format;
	return await readFileRecords(readBinary(n8n, item, field), { ...settings, format });
}

/** @throws Error in the user's words if the input has no file */
function inputFiles(n8n: IExecuteFunctions): InputFile[] {
	const files = n8n.getInputData().flatMap(({ binary = {}, json }, item): InputFile[] => [
		...Object.entries(binary).map(([field, { fileName }]) => ({ item, field, name: fileName ?? field })),
		...Object.entries(json).flatMap(([name, list]) => (isTable(list) ? [{ item, field: name, name, list }] : [])),
	]);
	if (files.length > 0) return files;
	throw new Error('The input has no files, so nothing was written. Connect a node that outputs them, such as Read/Write Files from Disk or a form. If the items are rows of a sheet, put them into one field, such as contacts, with an Aggregate node for each sheet.');
}

const isTable = (value: unknown): value is unknown[] => Array.isArray(value) && value.some(isObject) && !value.every(describesUpload);

/** n8n's form says with these members which files an item has besides. */
const describesUpload = (entry: unknown): boolean => isObject(entry) && Object.keys(entry).sort().join() === 'filename,mimetype,size';

/** Decides how the rows of a file find their records. */
async function planFile(
	file: Omit<PlannedFile, 'plan' | 'fields' | 'lateLinks'>,
	columns: ColumnPlan,
	rows: number,
	missing: ImportPlan['missing'],
): Promise<PlannedFile> {
	const { run } = file;
	const { create, upsert } = (await run.api.describe(run.resource.path)) ?? {};
	const match = upsert?.job?.match?.values ?? [];
	const filled = (name: string) => Number(columns.table.find(({ field }) => field === name)?.filled ?? 0);
	const identifies = (name: string) => (name === externalId.name ? filled(name) > 0 : filled(name) === rows);
	const matchOn = [externalId.name, ...match].find((name) => match.includes(name) && identifies(name));
	const decided = matchOn === undefined ? { operation: 'create' as const } : { operation: 'upsert' as const, matchOn };
	const plan: ImportPlan = { ...(await planOf(run, file.item, { ...decided, missing })), name: file.name, columns };
	const custom = await customFieldsIfAny(run.api, plan.path, plan.fields);
	return { ...file, plan, fields: [...(create?.fields ?? []), ...(custom?.fields ?? [])], lateLinks: [] };
}

/** Orders files so that linked records are written first; links for which that is impossible wait until all are written. */
function inOrderOfLinks(files: PlannedFile[]): PlannedFile[] {
	const ordered: PlannedFile[] = [];
	let left = files;
	while (left.length > 0) {
		const waiting = new Set(left.map(targetOf));
		const isReady = (file: PlannedFile) => linkedBy(file).every((linked) => linked === targetOf(file) || !waiting.has(linked));
		// Of a circle, one to which others link: they may need their links at once.
		const isLinked = (target: Collection) => left.some((file) => targetOf(file) !== target && linkedBy(file).includes(target));
		const next = targetOf(left.find(isReady) ?? left.find((file) => isLinked(targetOf(file))) ?? left[0]!);
		ordered.push(...left.filter((file) => targetOf(file) === next).map((file) => withLateLinks(file, waiting)));
		left = left.filter((file) => targetOf(file) !== next);
	}
	return ordered;
}

/** The collections of the records to which a field links. */
const collectionsOf = ({ collection, linksTo = [] }: Field): Collection[] => (collection === undefined ? linksTo : [collection, ...linksTo]);

const linkedBy = ({ fields }: PlannedFile): Collection[] => fields.filter(isRecordLink).flatMap(collectionsOf);

function withLateLinks(file: PlannedFile, waiting: ReadonlySet<Collection>): PlannedFile {
	const { columns } = file.plan;
	// A record without a required link could not be created.
	const isLate = (field: Field) => isRecordLink(field) && !field.required && collectionsOf(field).some((linked) => waiting.has(linked));
	const names = new Set(file.fields.filter(isLate).map(({ name }) => name));
	const linkColumns = columns.table.filter(({ field }) => names.has(String(field)));
	const lateLinks = linkColumns.map(({ field, column }): [string, string] => [String(field), String(column)]);
	const lateColumns = new Set(lateLinks.map(([, column]) => column));
	const renamed = columns.renamed.filter(([, column]) => !lateColumns.has(column));
	const plan = { ...file.plan, columns: { ...columns, renamed, unplaced: new Set([...(columns.unplaced ?? []), ...lateColumns]) } };
	return { ...file, plan, lateLinks };
}
