import type { Connection } from '../api/connection';
import { asSentence } from '../api/http/errorWords';
import { collectionName, type Collection } from '../api/http/path';
import { inParallel } from '../api/inParallel';
import { linkedIdsIn, isLink, linkTarget, withReplacedIds } from '../api/openapi/linkFields';
import { isAnsweredWith } from '../api/refusals';
import { isObject } from '../base/json';
import { getOrCreate, onceFor } from '../base/maps';
import { resultOrError } from '../base/results';
import { apiValue } from '../fields/convertValue';
import { type ConvertedValue, type Field, FieldError, fieldNamed } from '../fields/field';
import { isDigits, valueShape } from '../fields/fieldKinds';
import { lookUpNames, type NameResult } from '../lookUp/byName';
import { lookUpIds, recordsById, foundIn } from '../lookUp/lookUp';
import { identifyingFields, isIdShaped, isName, mayBeId, namesRecord, parseName, hasNumbers, hasText } from '../lookUp/names';
import { readPartsOnce, type Part, choiceOf, partNamed, partsWithIds } from '../lookUp/parts';
import { idsInCrm } from '../lookUp/sourceIds';
import type { Checks, NodeRun, MissingTargets } from '../model';
import { foldedText } from '../values/foldedText';

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

/** What became of a name; `notCreated` says why no record was created for it. */
type LinkResult = NameResult | { notCreated: Error };

const idsFound = (result: LinkResult): unknown[] => ('notCreated' in result ? [] : foundIn(result));

type ResultsByName = ReadonlyMap<string, LinkResult>;
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
	const mayBeIds = [...byName].flatMap(([name, result]) => (idsFound(result).length === 0 && mayBeId(name) ? [name] : []));
	const otherIds = [...ids].flatMap(([text, id]) => (crmIds.has(text) ? [] : [id]));
	const idsToCheck = linkChecks === 'all' ? [...otherIds, ...mayBeIds] : mayBeIds;
	const idExists = linkChecks === 'none' ? new Map<string, boolean>() : await lookUpIds(api, collection, idsToCheck);
	return { crmIds, hasSource: inCrm !== undefined, byName, newNames, idExists };
}

/** The records found by name: the rows of a file are looked up some hundred at a time. */
const foundNames = onceFor<Connection, Map<string, LinkResult>>(() => new Map());

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
		return record === undefined || record === 'id' ? [] : [{ name, record, ids: idsFound(result).map(String) }];
	});
	if (expected.length === 0) return byName;
	const list = (await api.describe(collection))?.list;
	const found = await recordsById(api, { path: collection, list, fields: identifyingFields }, expected.flatMap(({ ids }) => ids));
	return new Map([...byName, ...expected.map(({ name, record, ids }): [string, LinkResult] => {
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
		const others = [...found.newNames].map((name): [string, LinkResult] => [name, { notFound: true }]);
		records.set(collection, { ...found, byName: new Map([...found.byName, ...others, ...added]), newNames: new Set() });
	}
	return { ...named, records };
}

/** @param isWritten as in `addRecord` */
async function addedRecords(
	{ onMissingLink: { addRecord } = {} }: LinkSearch, collection: Collection, names: string[], isWritten: boolean,
): Promise<ResultsByName> {
	if (!addRecord) return new Map();
	return new Map(await inParallel(names, async (name): Promise<[string, LinkResult]> => {
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

/**
 * Replaces names by ids in the value of a link to records, or to their parts.
 *
 * @param values all values of the item
 * @throws Error in the user's words if no record has the name, or several have it
 */
export function replaceNames(named: LinkResults, { field, converted, newNamesOf }: ConvertedValue, values: ConvertedValue[]): unknown {
	if (!isLink(field)) return converted;
	refuseText(field, converted);
	const owners = field.part === undefined ? [] : ownersIn(named, field, values);
	return withReplacedIds(field, converted, (target, nameOrId) => {
		const text = hasText(nameOrId) ? nameOrId.trim() : nameOrId;
		if (named.source !== undefined) refuseNumber(field, String(text), named.records.get(target));
		if (field.part === undefined) return recordId(named, field, target, text, newNamesOf?.has(target));
		return partId(field, named.parts.get(target), text, owners);
	});
}

/** Refuses a number that is no known ID of the other system: a record of the CRM with that ID would be another one. */
function refuseNumber(field: Field, text: string, found: FoundRecords | undefined): void {
	if (!isDigits(text) || found?.crmIds.has(text)) return;
	throw new FieldError(field, `“${text}” is not known as an ID of the other system. If it is an ID of the CRM, enter ${text} → id:${text} in Values In → Value Map.`);
}

/** Refuses text in a field that takes links to records of several types. */
function refuseText(field: Field, value: unknown): void {
	const [collection] = field.linksTo ?? [];
	if (collection === undefined || valueShape(field) !== 'object') return;
	const wrong = [value ?? []].flat().find((link) => !isObject(link));
	if (wrong === undefined) return;
	throw new FieldError(field, `“${String(wrong)}” is not a link. Use { "resource": "${collectionName(collection)}", "id": "…" }.`);
}

/** The ids of the records to which a part may belong, which another value of the item names; empty if unknown. */
function ownersIn(named: LinkResults, part: Field, values: ConvertedValue[]): unknown[] {
	const owner = values.findLast((value) => isOwner(value, part));
	if (owner && owner.converted === undefined) throw new FieldError(part, `the value of ${owner.field.label}, to which it belongs, is refused.`);
	return owner ? [replaceNames(named, owner, values)].flat().filter((id) => id !== undefined && id !== null) : [];
}

/** Whether a value links to the records to which the parts of another field belong: a custom field may be for another one. */
const isOwner = ({ field }: ConvertedValue, part: Field): boolean =>
	field.part === undefined && field.target === part.target && field.path.length === part.path.length;

export const namesNewRecord = ({ records }: LinkResults, { field, converted }: ConvertedValue): boolean =>
	linkedIdsIn(field, converted).some(([target, id]) => records.get(target)?.newNames.has(String(id).trim()) === true);

/** Whether a value names a part that would be added: alone, if parts are added, or with its record. */
export function namesNewPart(named: LinkResults, value: ConvertedValue, values: ConvertedValue[], { addPart, partsOfNew }: MissingTargets): boolean {
	const { field, converted } = value;
	if (field.part === undefined || !namesRecord(field, converted)) return false;
	const newOwner = values.find((other) => isOwner(other, field) && namesNewRecord(named, other));
	if (addPart) return newOwner !== undefined || missingPart(named, value, values) !== undefined;
	const parts = newOwner ? partsOfNew?.(field.target!, String(newOwner.converted)) ?? [] : [];
	return parts.some((name) => foldedText(name) === foldedText(parseName(converted).name));
}

/** Adds the first part, such as a stage, that each item names and its record lacks, before names are replaced. */
export async function addMissingParts(
	api: Connection,
	named: LinkResults,
	items: ConvertedValue[][],
	addPart: NonNullable<MissingTargets['addPart']>,
): Promise<void> {
	for (const values of items) {
		const missing = values.map((value) => missingPart(named, value, values)).find((part) => part !== undefined);
		if (!missing) continue;
		const { collection, parts, name, owner: { ownerId, ownerName } } = missing;
		const refuse = (error: Error): undefined => void api.notices.add(`“${name}” was not created: ${error.message}`);
		const part = await addPart(collection, name, { id: ownerId, name: ownerName }).catch(refuse);
		if (part) parts.push({ ...part, ownerId, ownerName, isUnique: true });
	}
}

/** The part that a value names and its record lacks, if it is certain which record that is. */
function missingPart(named: LinkResults, { field, converted: text }: ConvertedValue, values: ConvertedValue[]) {
	const parts = named.parts.get(linkTarget(field)!);
	if (!Array.isArray(parts) || !namesRecord(field, text)) return undefined;
	const owners = resultOrError(() => ownersIn(named, field, values));
	if (owners instanceof Error) return undefined;
	const [ownerId, ...others] = owners.length > 0 ? owners : [...new Set(parts.map((part) => part.ownerId))];
	const owner = parts.find((part) => part.ownerId === ownerId);
	const isMissing = others.length === 0 && 'notFound' in partNamed(parts, text, [ownerId]);
	return owner && isMissing ? { collection: field.target!, parts, owner, name: parseName(text).name } : undefined;
}

/**
 * The id of the record that a value stands for. A text is read as, in this order: the ID of a record that other rows will
 * become; an ID of the other system; an ID of the CRM that looks like one; a name of a record, or of one that other rows will
 * become; and, if no record has that name, the name of a record to create, or an ID in any form, unless it is certainly a
 * name, or the values come from another system: it may have the same.
 *
 * @throws FieldError if there is none or several
 */
function recordId({ linkChecks, records, source }: LinkResults, field: Field, collection: Collection, value: unknown, isNewName = false): unknown {
	const { crmIds, hasSource, byName, idExists } = records.get(collection)!;
	const text = String(value);
	const crmId = crmIds.get(text);
	if (crmId !== undefined) return crmId === text ? value : typedId(field, crmId);
	const result = namesRecord(field, value) ? byName.get(text) : undefined;
	if (result && 'found' in result) return result.found;
	const mayBeSent = !isNewName && source === undefined && !hasNumbers(field) && mayBeId(text) && (linkChecks !== 'names' || idExists.get(text) === true);
	if (result && ('several' in result || 'refused' in result || 'notCreated' in result || !mayBeSent)) throw new UnclearName(field, collection, text, result);
	const id = plainId(field, value);
	if (idExists.get(String(id)) !== false) return id;
	const [wrong, elsewhere] = [result ? 'name or ID' : 'ID', hasSource ? ', here or in the other system' : ''];
	throw new FieldError(field, `no record of ${collectionName(collection)} has the ${wrong} “${String(id)}”${elsewhere}.`);
}

/** The id of the part that a value names, or of which it is the id. @throws FieldError if there is none or several */
function partId(field: Field, parts: Part[] | Error | undefined, value: unknown, owners: unknown[]): unknown {
	const collection = collectionName(field.target!);
	const refusal = (problem: string) => new FieldError(field, `“${String(value)}” ${problem}`);
	const notFound = (among: Part[]) => refusal(`does not match any of the ${field.part} in ${collection}. ${choiceOf(among, owners)}`);
	if (!namesRecord(field, value)) {
		const id = plainId(field, value);
		if (!Array.isArray(parts) || parts.some((part) => String(part.id) === String(id))) return id;
		throw notFound(parts);
	}
	if (!Array.isArray(parts)) throw refusal(`could not be looked up in ${collection}: ${parts?.message}`);
	const result = partNamed(parts, value, owners);
	if ('found' in result) return result.found;
	if (!('several' in result)) throw notFound(parts);
	const several = `is the name of several ${field.part} in ${collection}: ${partsWithIds(parts, result.several)}.`;
	throw refusal(`${several} Also map the field that links to ${collection}, or use the ID of the right one.`);
}

/** The id that a value stands for if it is no name. @throws Error in the user's words if ids are numbers, and it is none */
function plainId(field: Field, value: unknown): unknown {
	if (!isName(field, value)) return value;
	const { field: nameField, name } = parseName(value);
	return typedId(field, nameField === 'id' ? name : value);
}

/** @throws Error in the user's words if ids are numbers, and it is none */
const typedId = (field: Field, id: string): unknown =>
	hasNumbers(field) ? apiValue(fieldNamed(field.name, { label: field.label, kind: 'number' }), id, 'utc') : id;

/** No record has the name, or several have it. */
export class UnclearName extends FieldError {
	/** Where the name was looked up, and the records that have it. */
	readonly lookUp: { collection: Collection; name: string; ids: unknown[] };
	/** The error with which no record was added for it, if any. */
	readonly whyNotAdded: unknown;

	constructor(field: Pick<Field, 'name' | 'label'>, collection: Collection, name: string, result: LinkResult) {
		super(field, `“${name}” ${recordProblem(collection, name, result)}`);
		this.lookUp = { collection, name, ids: idsFound(result) };
		this.whyNotAdded = 'notCreated' in result ? result.notCreated : undefined;
	}
}

function recordProblem(collection: Collection, name: string, result: LinkResult): string {
	const nouns = collectionName(collection);
	if ('failed' in result) {
		const reason = asSentence(result.failed.message);
		return `could not be looked up in ${nouns}: ${reason} Use the ID; if this is the ID, write id:${name}.`;
	}
	if ('refused' in result) return `could not be looked up in ${nouns}: ${result.refused.message}`;
	if ('notCreated' in result) return `does not exist in ${nouns}, and was not created: ${result.notCreated.message}`;
	if ('several' in result) {
		const ids = result.several.slice(0, 5).map(String).join(', ');
		return `may match several records of ${nouns}, such as ${ids}. Use the ID of the right one.`;
	}
	if (severalIds.test(name)) return 'are several IDs, but the field takes one. Say which in Values In → Value Map, such as 1;2 → 1.';
	return `does not match any record of ${nouns}. Correct it, or use the ID of a record.`;
}

const severalIds = /^\w*\d[\w-]*(?:[;,|]\s*\w*\d[\w-]*)+$/;
