import type { IBinaryKeyData, IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { isRecordLink } from '../api/openapi/linkFields';
import type { Collection } from '../api/http/path';
import { notReadable } from '../api/http/statuses';
import { isAnsweredWith, recordName } from '../api/record';
import { errorOf } from '../base/errorOf';
import { isObject } from '../base/json';
import { getOrCreate } from '../base/maps';
import { withoutMembers } from '../base/ownMembers';
import { allCustomFields, type Field } from '../fields/field';
import { readBinary } from '../files/binary';
import { ItemWithFiles } from '../files/itemWithFiles';
import { readFileRecords, recordsOfList, type FileRecords } from '../files/rows';
import { firstRecords } from '../lookUp/lookUp';
import { parseName } from '../lookUp/names';
import { externalId, sourceId } from '../lookUp/sourceIds';
import { chosenSource } from '../mapping/chosenNotations';
import { matchColumns } from '../mapping/columnMatch';
import { customFieldsIfAny } from '../api/customFields';
import { wordsOf } from '../mapping/fieldNames';
import { recordWords } from '../mapping/foreignNames';
import type { Execution, Operation, OutputItem, Resource, Results } from '../model';
import { chosenFiles, fileSettingsOf, importOptions, relatedFilesProperties, type ChosenFile } from '../parameters/fileParameters';
import { isBlank } from '../values/blank';
import { readPreview } from '../values/readers';
import { ExpectedNames, ExpectedRecords } from '../writing/importCheck';
import { matchedFields, planColumns, surveyed, type FileSurvey } from '../writing/importColumns';
import type { ImportPlan } from '../writing/importPlan';
import { importRows } from '../writing/importRows';
import { writeOncePerOption } from '../writing/writeOne';
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

		prepare: (execution) => ({
			size: execution.n8n.getInputData().length,
			atOnce: 1,
			send: async () => await importAll(execution, recordTypes),
		}),
	};
}

/** A file of the input, and where it is. */
interface InputFile {
	item: number;
	field: string;
	name: string;
	/** Its rows, if the item has them as a list. */
	list?: IDataObject[];
}

/** A file whose record type is known. */
interface RelatedFile extends InputFile {
	/** Of its record type. */
	execution: Execution;
	plan: ImportPlan;
	fields: Field[];
	/** Why it has this record type, in the user's words. */
	why: string;
	/** The links to records that do not exist before all files are written: field and column. */
	lateLinks: Array<[field: string, column: string]>;
	/** The ID of the record of each written row; in a preview, only whether it would be written. */
	ids: Map<number, string>;
	/** Takes the values of a row, to compare them with the record at the end. */
	check: (row: number, values: IDataObject) => void;
	json: IDataObject;
	files: IBinaryKeyData;
}

async function importAll(execution: Execution, recordTypes: Resource[]): Promise<Results> {
	const { n8n } = execution;
	const source = chosenSource(n8n);
	if (source === undefined) throw new Error('Source Name is empty. Enter the system that the files come from, such as hubspot. Nothing was written.');
	const expected = new Map<Collection, ExpectedNames>();
	const willExist: Execution['willExist'] = (collection, text) => {
		const { name } = parseName(text);
		const names = expected.get(collection);
		return names?.hasId(name) || names?.hasId(sourceId(source, name)) ? 'id' : names?.named(name);
	};
	const chosen = chosenFiles(n8n);
	const others: Array<InputFile & { json: IDataObject }> = [];
	const typed: RelatedFile[] = [];
	const found: Array<InputFile & { type: Resource; why: string; survey: FileSurvey }> = [];
	const ofObjects = await customObjectTypes(execution, recordTypes);
	for (const file of inputFiles(n8n)) {
		const survey = await surveyed(n8n, await opened(n8n, file));
		const { type, why } = await typeOf(execution, recordTypes, ofObjects, { ...file, survey, chosen: chosen(file.name)?.kind });
		if (type) found.push({ ...file, type, why, survey });
		else others.push({ ...file, json: { file: file.name, record_type: null, why } });
	}
	const collections = new Set(found.map(({ type }) => type.path));
	for (const file of found) typed.push(await plannedFile({ ...execution, willExist, resource: file.type }, file, collections, chosen(file.name)));
	const unclear = others.find(({ json }) => json.why !== leftOut);
	const isPreview = readPreview(n8n.getNodeParameter('preview', 0, true));
	if (unclear && !isPreview) throw new Error(`${unclear.name}: ${String(unclear.json.why)} Nothing was written.`);
	const ordered = inOrderOfLinks(typed);
	const checks = new Map<Collection, ExpectedRecords>();
	for (const [place, related] of ordered.entries()) {
		const collection = collectionOf(related);
		const names = getOrCreate(expected, collection, () => new ExpectedNames());
		const links = related.fields.filter((linked) => isRecordLink(linked) && linked.path.length === 1).map(({ name }) => name);
		const check = getOrCreate(checks, collection, () => new ExpectedRecords(links));
		related.check = (row, values) => check.add(place, row, values);
		const plan: ImportPlan = {
			...related.plan,
			place: [related.item, place],
			planned(row, values) {
				if (!related.plan.isPreview) return related.check(row, values);
				related.ids.set(row, String(row));
				names.add(values, plan.matchOn ?? `row ${place}/${row}`);
			},
			saw(rows) {
				for (const { row, done } of rows) if (done) related.ids.set(row, done.id);
			},
		};
		const { json, files } = await importRows(related.execution, plan, await opened(n8n, related));
		const { execution: { resource }, name, why } = related;
		related.json = { file: name, record_type: resource.name, why, matched_on: plan.matchOn ?? null, ...json };
		related.files = files;
		if (plan.matchOn === externalId.name) check.addFile(Number(json.rows) - (plan.refusesRepeated ? Number(json.repeated) : 0));
	}
	for (const [place, related] of ordered.entries()) if (related.lateLinks.length > 0) await link(related, ordered.length + place);
	const all = [...ordered, ...others.map((other) => ({ ...other, files: {} }))];
	const results = n8n.getInputData().map((_, i) => all.filter(({ item }) => item === i).map(({ json, files }): OutputItem => new ItemWithFiles(json, files)));
	if (!isPreview) results.at(-1)?.push({ comparison: await comparedWithCrm(execution, source, ordered, checks) });
	return results;
}

/** Compares the rows of each record type with the records in the CRM, by their external IDs. */
async function comparedWithCrm(execution: Execution, source: string, files: RelatedFile[], checks: Map<Collection, ExpectedRecords>): Promise<IDataObject[]> {
	const compared = [...checks].map(async ([collection, check]): Promise<IDataObject[]> => {
		const ofType = files.filter((file) => collectionOf(file) === collection);
		const byId = ofType.filter(({ plan }) => plan.matchOn === externalId.name);
		const counts = byId.length > 0 ? await check.compared(execution, collection, source) : undefined;
		const outcomes = [[byId, counts ?? notCompared], [ofType.filter((file) => !byId.includes(file)), notCompared]] as const;
		return outcomes.flatMap(([some, outcome]) => (some.length > 0 ? [{ record_type: some[0]!.execution.resource.name, files: some.map(({ name }) => name), ...outcome }] : []));
	});
	return (await Promise.all(compared)).flat();
}

const notCompared = { why: 'Not compared, because the records of these files cannot be listed by external ID' };

const collectionOf = ({ execution: { resource } }: RelatedFile): Collection => resource.path;

/** Writes the links that had to wait, into the records that were written. */
async function link(related: RelatedFile, place: number): Promise<void> {
	const { execution, plan: first, lateLinks, ids } = related;
	const base = await planOf(execution, related.item, { operation: 'update', missing: first.missing });
	const columns = { renamed: [], leftOut: new Set<string>(), table: [] };
	const plan: ImportPlan = { ...base, columns, place: [related.item, place], name: related.name, planned: first.isPreview ? undefined : related.check, isLinking: true };
	const file = await opened(execution.n8n, related);
	async function* rowsWithLinks(): FileRecords['rows'] {
		for await (const read of file.rows) {
			yield read.flatMap(({ row, content = {} }) => {
				const id = ids.get(row);
				const values = lateLinks.filter(([, column]) => !isBlank(content[column])).map(([field, column]) => [field, content[column]]);
				return id === undefined || values.length === 0 ? [] : [{ row, content: { id, ...Object.fromEntries(values) } as IDataObject }];
			});
		}
	}
	const names = file.columns && ['id', ...lateLinks.map(([field]) => field)];
	const { json, files } = await importRows(execution, plan, { ...file, columns: names, rows: rowsWithLinks() });
	const { rows, failed, reasons } = json;
	related.json.links = { rows, failed, reasons };
	if (Number(failed) === 0 || !files.failed) return;
	related.files.unlinked = { ...files.failed, fileName: files.failed.fileName?.replace(/failed(?=\.\w+$)/, 'unlinked') ?? 'unlinked' };
	execution.api.notices.add(`${related.name}: ${String(failed)} links to records of the same files lead nowhere. The file “unlinked” has them with the reasons.`);
}

async function opened(n8n: IExecuteFunctions, { item, field, name, list }: InputFile): Promise<FileRecords> {
	if (list) return recordsOfList(list);
	const settings = fileSettingsOf(n8n, item);
	const format = /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(name) ? 'ndjson' : /\.json(?:\.gz)?$/i.test(name) ? 'json' : settings.format;
	return await readFileRecords(readBinary(n8n, item, field), { ...settings, format });
}

/** @throws Error in the user's words if the input has no file */
function inputFiles(n8n: IExecuteFunctions): InputFile[] {
	const files = n8n.getInputData().flatMap(({ binary = {}, json }, item): InputFile[] => [
		...Object.entries(binary).map(([field, { fileName }]) => ({ item, field, name: fileName ?? field })),
		...Object.entries(json).flatMap(([name, list]) => (Array.isArray(list) && list.length > 0 && list.every(isObject) ? [{ item, field: name, name, list }] : [])),
	]);
	if (files.length > 0) return files;
	throw new Error('The input has no files, so nothing was written. Connect a node that outputs them, such as Read/Write Files from Disk or a form. If the items are rows of a sheet, put them into one field, such as contacts, with an Aggregate node for each sheet.');
}

const leftOut = 'Left out by choice.';

/** @param related the collections that have files */
async function plannedFile(
	execution: Execution,
	{ survey, why, ...file }: InputFile & { why: string; survey: FileSurvey },
	related: ReadonlySet<Collection>,
	chosen: ChosenFile | undefined,
): Promise<RelatedFile> {
	const { api, resource } = execution;
	const description = await api.describe(resource.path);
	const match = description?.upsert?.job?.match?.values ?? [];
	const target = { ...(await planOf(execution, file.item, { operation: 'upsert', ...(match[0] !== undefined && { matchOn: match[0] }) })), name: file.name, related };
	const exceptions = chosen?.columns ?? new Map<string, string>();
	const plan: ImportPlan = { ...target, columns: await planColumns(execution, target, { exceptions, only: undefined }, survey) };
	const filled = (name: string) => Number(plan.columns.table.find(({ field }) => field === name)?.filled ?? 0);
	const key = [externalId.name, ...match].find((name) => match.includes(name) && (name === externalId.name ? filled(name) > 0 : filled(name) === survey.rows));
	const { missing } = plan;
	Object.assign(plan, await planOf(execution, file.item, key === undefined ? { operation: 'create', missing } : { operation: 'upsert', matchOn: key, missing }));
	if (key === undefined) delete plan.matchOn;
	const fields = [...(description?.create?.fields ?? []), ...((await customFieldsIfAny(api, plan.path, plan.fields))?.fields ?? [])];
	return { ...file, execution, plan, fields, why, lateLinks: [], ids: new Map(), check: () => undefined, json: {}, files: {} };
}

/** The custom objects of the account, as record types. */
async function customObjectTypes({ api }: Execution, recordTypes: Resource[]): Promise<Resource[]> {
	const type = recordTypes.find(({ parents }) => parents);
	if (!type) return [];
	const reading = firstRecords(api, '/custom-objects', Infinity);
	const objects = isAnsweredWith(await errorOf(reading), ...notReadable) ? [] : await reading;
	return objects.map((object): Resource => {
		const value = String(object.key);
		const path = type.path.replace(/\{\w+\}/, encodeURIComponent(value)) as Collection;
		return { ...withoutMembers(type, 'parents'), name: recordName(object) ?? value, value, path };
	});
}

/**
 * The record type that the user has chosen, or the name of the file says; otherwise, the one with the most of its columns.
 *
 * @param ofObjects the types of the account's custom objects, which files have the name of
 */
async function typeOf(
	execution: Execution,
	recordTypes: Resource[],
	ofObjects: Resource[],
	{ name, survey: { columns }, chosen }: { name: string; survey: FileSurvey; chosen: string | undefined },
): Promise<{ type?: Resource; why: string }> {
	if (chosen === 'none') return { why: leftOut };
	const chosenType = chosen === '' ? undefined : recordTypes.find(({ value }) => value === chosen);
	if (chosenType) return { type: chosenType, why: 'Chosen' };
	const nameWords = wordsOf(name.replace(/(\.\w+)+$/, ''));
	const [ofObject, ...more] = ofObjects.filter((type) => [type.name, type.value].some((text) => wordsOf(text) === nameWords));
	if (ofObject && more.length === 0) return { type: ofObject, why: 'By the name of the file' };
	const words = new Set(name.normalize('NFC').toLowerCase().replace(/\.\w+$/, '').split(/[^\p{L}]+/u).map((word) => (word === 'people' ? 'person' : word.replace(/ies$/, 'y').replace(/s$/, ''))));
	const namesOf = ({ path, name: typeName }: Resource) => [...(recordWords[path] ?? []), typeName.toLowerCase()];
	// A lead is a person, a company or a deal, each in some systems.
	words.delete('lead');
	const named = recordTypes.filter((type) => namesOf(type).some((word) => words.has(word)));
	const filled = columns.filter((column) => column.filled > 0);
	const candidates = [...new Set([...named, ...recordTypes.filter(({ path }) => recordWords[path])])];
	const counted = await Promise.all(
		candidates.map(async (candidate) => {
			const fields = (await execution.api.describe(candidate.path))?.create?.fields ?? [];
			const target = { path: candidate.path, fields: fields.filter((field) => field.name !== allCustomFields) };
			const matches = matchColumns(filled, await matchedFields({ ...execution, resource: candidate }, target, chosenSource(execution.n8n)));
			return { type: candidate, count: matches.filter(({ meaning }) => meaning !== undefined).length };
		}),
	);
	counted.sort((a, b) => b.count - a.count);
	const ofName = counted.filter(({ type }) => named.includes(type));
	const [best, second] = ofName.length > 1 ? ofName : counted;
	if (ofName.length === 1 && ofName[0]!.count * 2 >= best!.count) return { type: ofName[0]!.type, why: 'By the name of the file' };
	if (ofName.length === 1) return { why: `Its name says ${ofName[0]!.type.name}, but its columns say ${best!.type.name}. Choose its record type under Files.` };
	if (!best || best.count < 2 || best.count === second?.count) return { why: 'Neither its name nor its columns say what it has. Choose its record type under Files.' };
	return { type: best.type, why: `${best.count} of ${filled.length} filled columns are fields of this record type` };
}

/** Orders files so that linked records are written first; links for which that is impossible wait until all are written. */
function inOrderOfLinks(files: RelatedFile[]): RelatedFile[] {
	const linksIn = ({ fields }: RelatedFile) => fields.filter((field) => isRecordLink(field));
	const ordered: RelatedFile[] = [];
	const left = [...files];
	while (left.length > 0) {
		const isReady = (file: RelatedFile) =>
			linksIn(file).every(({ collection, linksTo = [] }) =>
				left.every((other) => collectionOf(other) === collectionOf(file) || ![collection, ...linksTo].includes(collectionOf(other))),
			);
		const next = left.find(isReady) ?? left[0]!;
		const [sameType, others] = [left.filter((file) => collectionOf(file) === collectionOf(next)), left.filter((file) => collectionOf(file) !== collectionOf(next))];
		const waiting = new Set([collectionOf(next), ...others.map(collectionOf)]);
		for (const file of sameType) ordered.push(withLateLinks(file, linksIn(file).filter(({ collection }) => waiting.has(collection!))));
		left.splice(0, left.length, ...others);
	}
	return ordered;
}

function withLateLinks(file: RelatedFile, late: Field[]): RelatedFile {
	const { columns } = file.plan;
	const names = new Set(late.map(({ name }) => name));
	const lateLinks = columns.table.flatMap(({ field, column }): Array<[string, string]> => (names.has(String(field)) ? [[String(field), String(column)]] : []));
	const lateColumns = new Set(lateLinks.map(([, column]) => column));
	const renamed = columns.renamed.filter(([, column]) => !lateColumns.has(column));
	const plan = { ...file.plan, columns: { ...columns, renamed, leftOut: new Set([...(columns.leftOut ?? []), ...lateColumns]) } };
	return { ...file, plan, lateLinks };
}
