import { isObject } from '../base/json';
import { resultOrError } from '../base/errorOf';
import { getOrCreate, keptFor } from '../base/maps';
import type { Connection } from '../api/connection';
import { collectionName, type Collection } from '../api/http/path';
import { asSentence } from '../api/http/errorWords';
import { inParallel } from '../api/inParallel';
import { isAnsweredWith } from '../api/record';
import { isLink, withReplacedIds } from '../api/openapi/linkFields';
import { apiValue } from '../fields/decideValue';
import { fieldNamed, idField, type ConvertedValue, type Field } from '../fields/field';
import { FieldError } from '../fields/fieldError';
import { valueShape } from '../fields/fieldKinds';
import { foundIn, lookUp, recordsById } from '../lookUp/lookUp';
import { recordsOfSource } from '../lookUp/sourceIds';
import { hasNumbers, identifyingFields, hasText, isIdShaped, isName, lookUpNames, mayBeId, type NamedId, parseName } from '../lookUp/names';
import { choiceOf, type Part, partNamed, partsWithIds, readPartsOnce } from '../lookUp/parts';
import type { Execution, MissingTargets } from '../model';

/**
 * How links are used. If no record has the name, but the value may be an ID, a `written` value is sent for the service to
 * refuse. A filter would silently find nothing, and a person would be asked to approve a wrong write: for these, links are
 * `checked`, and it is refused here. IDs are `verified`, that is, looked up too, in a preview, and where a value that is
 * refused is left out.
 */
export type LinkUse = 'written' | 'checked' | 'verified';

/** The records found by name: the rows of a file are looked up some hundred at a time. */
const foundNames = keptFor<Connection, Map<string, NamedId>>(() => new Map());
/** Whether the IDs of a collection, as far as they were looked up, belong to no record; undefined if that failed. */
const knownIds = keptFor<Connection, Map<string, boolean | undefined>>(() => new Map());

type LinkingExecution = Pick<Execution, 'api' | 'rows' | 'missing'>;

/** What items name as links, and what was found. */
export interface LinkedIds {
	use: LinkUse;
	willExist: MissingTargets['willExist'] | undefined;
	collections: ReadonlyMap<Collection, LinkedCollection>;
	/** The parts to which fields link, or why they could not be read. */
	parts: ReadonlyMap<string, Part[] | Error>;
}

/** The names and IDs by which items link to the records of a collection, and what was found. */
interface LinkedCollection {
	names: Set<string>;
	ids: Set<string>;
	/** Finds records by their ID in the system that the items come from. */
	idInSource?: (id: string) => string | undefined;
	outcomes: Map<string, NamedId>;
	/** Whether no record has an ID, of those that were looked up. */
	missing: ReadonlyMap<string, boolean | undefined>;
}

/**
 * Looks up the records, and parts of records, to which the items link by name, domain or email instead of an id. A value
 * that can only be an id is not looked up; `external_id:100123` is looked up only in that field, and `id:acme` is an id.
 *
 * @param items the values of each item; a refused one is undefined. Each name is looked up once
 * @param source the system that the items come from: values are its IDs first, as recordsOfSource finds them
 */
export async function lookUpLinks(
	execution: LinkingExecution,
	items: ConvertedValue[][],
	use: LinkUse,
	source?: string,
): Promise<LinkedIds> {
	const { willExist, partFor } = execution.missing ?? {};
	const { collections, partFields } = linkedBy(items, use, willExist);
	for (const [collection, linked] of collections) await findLinked(execution, collection, linked, use, source);
	const parts = new Map<string, Part[] | Error>();
	const failed = (error: Error) => unlessForbidden(execution, error);
	for (const [key, field] of partFields) parts.set(key, await partsFor(execution.api, field).catch(failed));
	const links: LinkedIds = { use, willExist, collections, parts };
	if (partFor) for (const values of items) await addMissingPart(execution.api, links, values, partFor);
	return links;
}

/** The names and IDs that items have as links, by collection, and the fields that link to parts which have to be read. */
function linkedBy(items: ConvertedValue[][], use: LinkUse, willExist: MissingTargets['willExist']) {
	const collections = new Map<Collection, LinkedCollection>();
	const partFields = new Map<string, Field>();
	const none = (): LinkedCollection => ({ names: new Set(), ids: new Set(), outcomes: new Map(), missing: new Map() });
	/** @param id may be a name */
	const add = (field: Field, collection: Collection, id: unknown): void => {
		const isNamed = namesRecord(field, id);
		if (field.part !== undefined) {
			if (use === 'verified' || isNamed) partFields.set(partsKey(field), field);
		} else if (willExist?.(collection, String(id)) !== 'id') {
			const { names, ids } = getOrCreate(collections, collection, none);
			if (isNamed) names.add(id.trim());
			else if (id !== null && typeof id !== 'object') ids.add(parseName(String(id)).name);
		}
	};
	for (const values of items) {
		for (const { field, converted } of values) {
			if (isLink(field)) withReplacedIds(field, converted, (collection, id) => add(field, collection, id));
		}
	}
	return { collections, partFields };
}

/** The error of each value that could not be looked up. @throws a 403 for the rows of a file: all would be refused, or lose their links */
function unlessForbidden({ rows }: LinkingExecution, error: Error): Error {
	if (rows && isAnsweredWith(error, 403)) throw error;
	return error;
}

/** Finds the records of a collection by the names and IDs that items have. */
async function findLinked(
	execution: LinkingExecution,
	collection: Collection,
	linked: LinkedCollection,
	use: LinkUse,
	source: string | undefined,
): Promise<void> {
	const { api } = execution;
	if (source !== undefined) await findInSource(api, collection, linked, source);
	if (linked.names.size > 0) await findNames(execution, collection, linked);
	if (use === 'written') return;
	// A name that no record has may be an ID in any form.
	const unknown = [...linked.outcomes].filter(([, outcome]) => foundIn(outcome).length === 0);
	const mayBeIds = unknown.map(([name]) => name).filter(mayBeId);
	linked.missing = await missingIds(api, collection, use === 'verified' ? [...linked.ids, ...mayBeIds] : mayBeIds);
}

/** Finds texts that are IDs of another system: these are neither names nor IDs of the CRM. */
async function findInSource(api: Connection, collection: Collection, linked: LinkedCollection, source: string): Promise<void> {
	const found = await recordsOfSource(api, collection, source);
	if (!found) return;
	const { names, ids } = linked;
	const texts = [...ids, ...names].filter((text) => parseName(text).field === undefined);
	await found.find(texts);
	linked.idInSource = found.idOf;
	for (const text of texts) if (found.idOf(text) !== undefined) [ids, names].forEach((all) => all.delete(text));
}

async function findNames(execution: LinkingExecution, collection: Collection, linked: LinkedCollection): Promise<void> {
	const { api, missing: { willExist, idFor: missingId } = {} } = execution;
	const cache = foundNames(api, collection);
	const unknown = [...linked.names].filter((name) => !cache.has(name));
	// Text that looks like an ID is a name if no record has the ID.
	const missing = await missingIds(api, collection, unknown.filter(isIdShaped));
	for (const id of unknown) if (missing.get(id) === false) cache.set(id, { found: id });
	const names = unknown.filter((name) => !cache.has(name));
	const failed = (error: Error) => new Map(names.map((name): [string, NamedId] => [name, { failed: unlessForbidden(execution, error) }]));
	const outcomes = names.length > 0 ? await lookUpNames(api, collection, names).catch(failed) : new Map<string, NamedId>();
	for (const name of linked.names) {
		const outcome = outcomes.get(name) ?? cache.get(name);
		if (outcome) linked.outcomes.set(name, outcome);
		if (outcome && 'found' in outcome) cache.set(name, outcome);
	}
	if (willExist) await addExpected(api, collection, linked.outcomes, willExist);
	if (!missingId) return;
	await inParallel(namesNotFound(linked), async (name) => {
		const found = await missingId(collection, name).catch((error: Error) => error);
		if (found instanceof Error) linked.outcomes.set(name, { refused: new Error(`it does not exist, and was not created: ${found.message}`) });
		else if (found !== undefined) [linked.outcomes, cache].forEach((all) => all.set(name, { found }));
	});
}

/** Adds the part that an item names and its record lacks, if it is certain which record that is. */
async function addMissingPart(
	api: Connection,
	links: LinkedIds,
	values: ConvertedValue[],
	partFor: NonNullable<MissingTargets['partFor']>,
): Promise<void> {
	for (const { field, converted: text } of values) {
		const parts = links.parts.get(partsKey(field));
		const isOwnerRefused = values.some((other) => other.converted === undefined && isOwner(other, field));
		if (!Array.isArray(parts) || !isName(field, text) || isOwnerRefused) continue;
		const named = resultOrError(() => ownersIn(links, field, values));
		if (named instanceof Error) continue;
		const [owner, ...others] = named.length > 0 ? named : [...new Set(parts.map(({ ownerId }) => ownerId))];
		const ofOwner = parts.find(({ ownerId }) => ownerId === owner);
		if (!ofOwner || others.length > 0 || !('notFound' in partNamed(parts, text, [owner]))) continue;
		const { ownerId, ownerName } = ofOwner;
		const { name } = parseName(text);
		const refuse = (error: Error): undefined => void api.notices.add(`“${name}” was not created: ${error.message}`);
		const part = await partFor(field.collection!, name, { id: ownerId, name: ownerName }).catch(refuse);
		if (part) parts.push({ ...part, ownerId, ownerName, isUnique: true });
		return;
	}
}

/**
 * Replaces names by ids in the value of a link to records, or to their parts.
 *
 * @param values all values of the item
 * @throws Error in the user's words if no record has the name, or several have it
 */
export function replaceNames(links: LinkedIds, { field, converted }: ConvertedValue, values: ConvertedValue[]): unknown {
	if (!isLink(field)) return converted;
	const owners = field.part === undefined ? [] : ownersIn(links, field, values);
	const wrong = field.linksTo && valueShape(field) === 'object' ? [converted ?? []].flat().find((link) => !isObject(link)) : undefined;
	if (wrong !== undefined) throw new FieldError(field, `“${String(wrong)}” is not a link. Use { "resource": "${collectionName(field.linksTo![0]!)}", "id": "…" }.`);
	return withReplacedIds(field, converted, (collection, idOrName) => {
		const text = hasText(idOrName) ? idOrName.trim() : idOrName;
		return field.part === undefined ? recordId(links, field, collection, text) : partId(field, links.parts.get(partsKey(field)), text, owners);
	});
}

/** The ids of the records to which a part may belong, which another value of the item names; empty if unknown. */
function ownersIn(links: LinkedIds, part: Field, values: ConvertedValue[]): unknown[] {
	const owner = values.findLast((value) => value.converted !== undefined && isOwner(value, part));
	return owner ? [replaceNames(links, owner, values)].flat().filter((id) => id !== undefined && id !== null) : [];
}

/** Whether a value links to the records to which the parts of another field belong. */
const isOwner = ({ field }: ConvertedValue, part: Field): boolean => field.part === undefined && field.collection === part.collection;

function recordId({ use, willExist, collections }: LinkedIds, field: Field, collection: Collection, text: unknown): unknown {
	if (willExist?.(collection, String(text)) === 'id') return text;
	const { idInSource, outcomes, missing } = collections.get(collection) ?? {};
	const ofSource = idInSource?.(String(text));
	if (ofSource !== undefined) return idFor(field, ofSource);
	const outcome = namesRecord(field, text) ? outcomes?.get(text) : undefined;
	if (outcome && 'found' in outcome) return outcome.found;
	const mayBeSent = !hasNumbers(field) && mayBeId(String(text)) && (use !== 'checked' || missing?.get(String(text)) === false);
	if (outcome && ('several' in outcome || !mayBeSent)) throw new UnclearName(field, collection, String(text), outcome);
	const id = plainId(field, text);
	if (missing?.get(String(id)) !== true) return id;
	throw new FieldError(field, `no record of ${collectionName(collection)} has the ${outcome ? 'name or ID' : 'ID'} “${String(id)}”${idInSource ? ', here or in the other system' : ''}.`);
}

function partId(field: Field, parts: Part[] | Error | undefined, text: unknown, owners: unknown[]): unknown {
	const { part } = field;
	const collection = collectionName(field.collection!);
	const refuse = (problem: string): never => {
		throw new FieldError(field, `“${String(text)}” ${problem}`);
	};
	if (!Array.isArray(parts)) return parts && namesRecord(field, text) ? refuse(`could not be looked up in ${collection}: ${parts.message}`) : plainId(field, text);
	const id = plainId(field, text);
	if (!namesRecord(field, text)) return parts.some((candidate) => String(candidate.id) === String(id)) ? id : refuse(noPart(field, parts, owners));
	const outcome = partNamed(parts, text, owners);
	if ('found' in outcome) return outcome.found;
	if (!('several' in outcome)) return refuse(noPart(field, parts, owners));
	return refuse(`is the name of several ${part} in ${collection}: ${partsWithIds(parts, outcome.several)}. Also map the field that links to ${collection}, or use the ID of the right one.`);
}

const noPart = ({ collection, part }: Field, parts: Part[], owners: unknown[]): string =>
	`does not match any of the ${part} in ${collectionName(collection!)}. ${choiceOf(parts, owners)}`;

/** Whether a value is or may be a name, and does not say that it is an id. */
export const namesRecord = (field: Field, value: unknown): value is string => isName(field, value) && parseName(value).field !== 'id';

/** The id that a value stands for if it is no name. @throws Error in the user's words if ids are numbers, and it is none */
function plainId(field: Field, value: unknown): unknown {
	if (!isName(field, value)) return value;
	const { field: nameField, name } = parseName(value);
	return idFor(field, nameField === 'id' ? name : value);
}

/** @throws Error in the user's words if ids are numbers, and it is none */
const idFor = (field: Field, id: string): unknown =>
	hasNumbers(field) ? apiValue(fieldNamed(field.name, { label: field.label, kind: 'number' }), id, 'utc') : id;

const namesNotFound = ({ outcomes }: LinkedCollection): string[] =>
	[...outcomes].flatMap(([name, outcome]) => ('notFound' in outcome ? [name] : []));

/** Looks IDs up, a hundred a request. @returns whether no record has them; undefined for IDs that cannot be looked up */
export async function missingIds(api: Connection, collection: Collection, ids: string[]): Promise<ReadonlyMap<string, boolean | undefined>> {
	const outcomes = knownIds(api, collection);
	const unknown = ids.filter((id) => !outcomes.has(id));
	const list = unknown.length > 0 ? (await api.describe(collection))?.list : undefined;
	const target = list && { api, path: collection, list, filters: list.filters, fields: [] };
	const outcomeOf = target && (await lookUp(target, idField, unknown).catch(() => undefined));
	for (const id of unknown) {
		const outcome = outcomeOf?.(id);
		outcomes.set(id, !outcome || 'failed' in outcome ? undefined : foundIn(outcome).length === 0);
	}
	return outcomes;
}

/** A name that a record of the files will have is found, unless another record has it, too. */
async function addExpected(api: Connection, collection: Collection, outcomes: Map<string, NamedId>, willExist: NonNullable<MissingTargets['willExist']>): Promise<void> {
	const list = (await api.describe(collection))?.list;
	const expected = [...outcomes].flatMap(([name, outcome]) => {
		const record = willExist(collection, name);
		return record === undefined || record === 'id' ? [] : [{ name, record, ids: foundIn(outcome).map(String) }];
	});
	const found = await recordsById(api, { path: collection, list, fields: identifyingFields }, expected.flatMap(({ ids }) => ids));
	for (const { name, record, ids } of expected) {
		const others = ids.filter((id) => !record.is(found.get(id) ?? {}));
		const isOne = !record.isShared && others.length === 0;
		outcomes.set(name, isOne ? { found: ids[0] ?? name } : { several: [record.isShared ? 'rows of these files' : 'a row of these files', ...others] });
	}
}

async function partsFor(api: Connection, { collection, part }: Field): Promise<Part[]> {
	const parts = await readPartsOnce(api, collection!, part!);
	api.requireDescription(collectionName(collection!));
	return parts;
}

/** No record has the name, or several have it. */
export class UnclearName extends FieldError {
	readonly lookUp: {
		/** Where the name was looked up. */
		collection: Collection;
		name: string;
		/** The records that have the name. */
		ids: unknown[];
	};

	constructor(field: Pick<Field, 'name' | 'label'>, collection: Collection, name: string, outcome: NamedId) {
		super(field, `“${name}” ${recordProblem(collection, name, outcome)}`);
		this.lookUp = { collection, name, ids: foundIn(outcome) };
	}
}

/** The key of the list of parts to which a field links. */
const partsKey = ({ collection, part }: Field): string => JSON.stringify([collection, part]);

function recordProblem(collection: Collection, name: string, outcome: NamedId): string {
	if ('failed' in outcome) {
		return `could not be looked up in ${collectionName(collection)}: ${asSentence(outcome.failed.message)} Use the ID; if this is the ID, write id:${name}.`;
	}
	if ('refused' in outcome) return `could not be looked up in ${collectionName(collection)}: ${outcome.refused.message}`;
	if ('several' in outcome) {
		const ids = outcome.several.slice(0, 5).map(String).join(', ');
		return `may match several records of ${collectionName(collection)}, such as ${ids}. Use the ID of the right one.`;
	}
	if (/^\w*\d[\w-]*(?:[;,|]\s*\w*\d[\w-]*)+$/.test(name)) return 'are several IDs, but the field takes one. Say which in Values In → Value Map, such as 1;2 → 1.';
	return `does not match any record of ${collectionName(collection)}. Correct it, or use the ID of a record.`;
}
