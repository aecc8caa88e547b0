import type { Connection } from '../api/connection';
import { collectionName, type Collection } from '../api/http/path';
import { inParallel } from '../api/inParallel';
import { linkedIdsIn, isLink } from '../api/openapi/linkFields';
import { isAnsweredWith } from '../api/refusals';
import { getOrCreate, onceFor } from '../base/maps';
import type { ConvertedValue, Field } from '../fields/field';
import { lookUpIds, recordsById, foundIn } from '../lookUp/lookUp';
import { lookUpNames, type NameResult } from '../lookUp/byName';
import { identifyingFields, isIdShaped, isName, mayBeId, namesRecord, parseName } from '../lookUp/names';
import { readPartsOnce, type Part } from '../lookUp/parts';
import { idsInCrm } from '../lookUp/sourceIds';
import type { Checks, NodeRun, MissingTargets } from '../model';

/** What was found for the names and IDs by which all items link. */
export interface LinkResults extends Pick<LinkSearch, 'linkChecks' | 'source'> {
	records: ReadonlyMap<Collection, FoundRecords>;
	/** By target, such as `/pipelines.stages`: the parts, or why they could not be read. */
	parts: ReadonlyMap<Collection, Part[] | Error>;
}

export interface FoundRecords {
	/** The IDs in the CRM by those of the other system. That of a record which other rows will become stands for itself. */
	crmIds: ReadonlyMap<string, string>;
	/** Whether records are found by IDs of the other system. */
	hasSource: boolean;
	byName: ResultsByName;
	/** Of these, the names of records that would be added: they stand for the IDs. */
	newNames: ReadonlySet<string>;
	/** Whether a record has an ID, of those that were looked up. */
	idExists: ReadonlyMap<string, boolean | undefined>;
}

/** A look-up of links, and what becomes of those to records that do not exist. */
interface LinkSearch extends Pick<NodeRun, 'api' | 'onMissingLink'> {
	/** Whether the items are the rows of a file. */
	areRows?: boolean;
	linkChecks: Checks['links'];
	/** The system that the items come from: values are its IDs first, as idsInCrm finds them. */
	source?: string | undefined;
}

type ResultsByName = ReadonlyMap<string, NameResult>;
type Missing = Required<MissingTargets>;

/**
 * Looks up the records to which the items link by name, domain or email instead of an id, as if those that do not exist
 * were added, if the user wants that (`addNamedRecords`); reads the parts of records. `external_id:100123` is looked up only
 * in that field, and `id:acme` is an id. What a text stands for is decided in `replaceNames`; here, no text is looked up that is decided already.
 *
 * @param items the values of each item, of which a refused one is undefined. Each name is looked up once
 */
export async function findNamedRecords(search: LinkSearch, items: ConvertedValue[][]): Promise<LinkResults> {
	const { textsByCollection, partFields } = linksOfItems(search, items);
	const records = new Map<Collection, FoundRecords>();
	for (const [collection, texts] of textsByCollection) records.set(collection, await findInCollection(search, collection, texts));
	const parts = new Map<Collection, Part[] | Error>();
	for (const [target, field] of partFields) parts.set(target, await partsOf(search, field));
	return { linkChecks: search.linkChecks, source: search.source, records, parts };
}

interface LinkTexts {
	names: Set<string>;
	/** Those in values for which records are added. */
	namesToCreate: Set<string>;
	/** Those that are no names, and the ID in each: without `id:`. */
	ids: Map<string, string>;
}

/** What items link to: the records by texts, and the fields for parts that have to be read. */
function linksOfItems({ linkChecks, areRows }: LinkSearch, items: ConvertedValue[][]) {
	const textsByCollection = new Map<Collection, LinkTexts>();
	const partFields = new Map<Collection, Field>();
	const newTexts = (): LinkTexts => ({ names: new Set(), namesToCreate: new Set(), ids: new Map() });
	for (const values of items) {
		for (const { field, converted, newNamesOf } of values) {
			for (const [target, nameOrId] of isLink(field) ? linkedIdsIn(field, converted) : []) {
				const isAdded = areRows === true || newNamesOf?.has(target) === true;
				if (field.part === undefined) addText(getOrCreate(textsByCollection, target, newTexts), field, nameOrId, isAdded);
				else if (linkChecks === 'all' || namesRecord(field, nameOrId)) partFields.set(target, field);
			}
		}
	}
	return { textsByCollection, partFields };
}

function addText({ names, namesToCreate, ids }: LinkTexts, field: Field, nameOrId: unknown, isAdded: boolean): void {
	if (typeof nameOrId === 'object') return;
	const text = String(nameOrId).trim();
	if (!namesRecord(field, nameOrId)) return void ids.set(text, isName(field, nameOrId) ? parseName(text).name : text);
	names.add(text);
	if (isAdded) namesToCreate.add(text);
}

async function findInCollection(search: LinkSearch, collection: Collection, linkTexts: LinkTexts): Promise<FoundRecords> {
	const { names, namesToCreate, ids } = linkTexts;
	const { api, linkChecks, source, onMissingLink: { willExist } = {} } = search;
	const texts = [...new Set([...names, ...ids.keys()])];
	const crmIds = new Map(texts.filter((text) => willExist?.(collection, text) === 'id').map((text) => [text, text]));
	const plainTexts = texts.filter((text) => !crmIds.has(text) && parseName(text).field === undefined);
	const inCrm = source === undefined ? undefined : await idsInCrm(api, collection, source, plainTexts);
	for (const [text, id] of inCrm ?? []) crmIds.set(text, id);

	let byName = await findNames(search, collection, [...names].filter((name) => !crmIds.has(name)));
	if (willExist) byName = await withExpected(api, collection, byName, willExist);
	const notFound = [...byName].flatMap(([name, result]) => ('notFound' in result && namesToCreate.has(name) ? [name] : []));
	const added = await addedRecords(search, collection, notFound, false);
	byName = new Map([...byName, ...added]);
	const newNames = new Set([...added].flatMap(([name, result]) => ('found' in result ? [name] : [])));
	// A name that no record has may be an ID in any form.
	const mayBeIds = [...byName].flatMap(([name, result]) => (foundIn(result).length === 0 && mayBeId(name) ? [name] : []));
	const otherIds = [...ids].flatMap(([text, id]) => (crmIds.has(text) ? [] : [id]));
	const idsToCheck = linkChecks === 'all' ? [...otherIds, ...mayBeIds] : mayBeIds;
	const idExists = linkChecks === 'none' ? new Map<string, boolean>() : await lookUpIds(api, collection, idsToCheck);
	return { crmIds, hasSource: inCrm !== undefined, byName, newNames, idExists };
}

/** The records found by name: the rows of a file are looked up some hundred at a time. */
const foundNames = onceFor<Connection, Map<string, NameResult>>(() => new Map());

function rememberFound(api: Connection, collection: Collection, results: ResultsByName): void {
	const found = foundNames(api, collection);
	for (const [name, result] of results) if ('found' in result) found.set(name, result);
}

async function findNames(search: LinkSearch, collection: Collection, names: string[]): Promise<ResultsByName> {
	const { api } = search;
	const found = foundNames(api, collection);
	const unknown = names.filter((name) => !found.has(name));
	// Text that looks like an ID is a name if no record has the ID.
	const idExists = await lookUpIds(api, collection, unknown.filter(isIdShaped));
	const toLookUp = unknown.filter((name) => idExists.get(name) !== true);
	const lookedUp: ResultsByName = toLookUp.length === 0 ? new Map() : await lookUpNames(api, collection, toLookUp).catch((error: Error) => {
		const failed = errorOfValues(search, error);
		return new Map(toLookUp.map((name) => [name, { failed }]));
	});
	const results = new Map(names.map((name) => [name, lookedUp.get(name) ?? found.get(name) ?? { found: name }]));
	rememberFound(api, collection, results);
	return results;
}

/** The error of values that were not looked up. @throws a 403 for the rows of a file: all would be refused, or lose their links */
function errorOfValues({ areRows }: LinkSearch, error: Error): Error {
	if (areRows && isAnsweredWith(error, 403)) throw error;
	return error;
}

/** A name that a record of the files will have is found, unless another record has it, too. */
async function withExpected(api: Connection, collection: Collection, byName: ResultsByName, willExist: Missing['willExist']): Promise<ResultsByName> {
	const expected = [...byName].flatMap(([name, result]) => {
		const record = willExist(collection, name);
		return record === undefined || record === 'id' ? [] : [{ name, record, ids: foundIn(result).map(String) }];
	});
	if (expected.length === 0) return byName;
	const list = (await api.describe(collection))?.list;
	const found = await recordsById(api, { path: collection, list, fields: identifyingFields }, expected.flatMap(({ ids }) => ids));
	return new Map([...byName, ...expected.map(({ name, record, ids }): [string, NameResult] => {
		const others = ids.filter((id) => !record.is(found.get(id) ?? {}));
		if (record.isShared) return [name, { several: ['rows of these files', ...others] }];
		return [name, others.length === 0 ? { found: ids[0] ?? name } : { several: ['a row of these files', ...others] }];
	})]);
}

/** @returns the same records, with those that were added for items; names that only other items have are not found */
export async function addNamedRecords(search: LinkSearch, named: LinkResults, items: ConvertedValue[][]): Promise<LinkResults> {
	const { textsByCollection } = linksOfItems(search, items);
	const records = new Map(named.records);
	for (const [collection, found] of named.records) {
		const { namesToCreate = new Set() } = textsByCollection.get(collection) ?? {};
		const names = [...found.newNames].filter((name) => namesToCreate.has(name));
		const added = await addedRecords(search, collection, names, true);
		rememberFound(search.api, collection, added);
		const others = [...found.newNames].map((name): [string, NameResult] => [name, { notFound: true }]);
		records.set(collection, { ...found, byName: new Map([...found.byName, ...others, ...added]), newNames: new Set() });
	}
	return { ...named, records };
}

/** @param isWritten as in `addRecord` */
async function addedRecords(
	{ onMissingLink: { addRecord } = {} }: LinkSearch, collection: Collection, names: string[], isWritten: boolean,
): Promise<ResultsByName> {
	if (!addRecord) return new Map();
	return new Map(await inParallel(names, async (name): Promise<[string, NameResult]> => {
		const id = await addRecord(collection, name, isWritten).catch((error: Error) => error);
		if (id instanceof Error) return [name, { notCreated: id }];
		return [name, id === undefined ? { notFound: true } : { found: id }];
	}));
}

async function partsOf(search: LinkSearch, { target, part }: Field): Promise<Part[] | Error> {
	try {
		const parts = await readPartsOnce(search.api, target!, part!);
		search.api.requireDescription(collectionName(target!));
		return parts;
	} catch (error) {
		return errorOfValues(search, error as Error);
	}
}
